// Package witness tests both sides of C2SP tlog-witness with the code of transparency.dev: their witness signs
// our log, and their client has our witness sign. It is a module of its own, because that code needs a newer
// transparency-dev/formats and much else: go test ./... in this folder.
package witness
