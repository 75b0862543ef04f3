// Package store opens the SQLite file of the embedded server, and gives the server its
// connection.
//
//	db, err := store.Open(path)                  // as it is: to make a database or to change its schema
//	db, err := store.OpenServing(path)           // for a server
//	cfg := store.ServerConfig(db, "temporal.db") // of a server that uses db
//
// # The driver
//
// The driver is mattn/go-sqlite3, which is SQLite in C, with cgo and the build tag sqlite_fts5, as `make build` has it: the
// server's lists need SQLite's module fts5, which mattn leaves out without the tag. Otherwise, as in binaries that are
// cross-compiled, it is modernc.org/sqlite, which is the same SQLite in Go. Both read and write the same files.
//
// All code in this process must open a file with the driver of this package: two copies of
// SQLite in one process do not respect each other's locks.
//
// # Durability
//
// A serving connection uses WAL mode with synchronous=NORMAL: a killed process loses nothing that was committed. A machine
// that loses power may lose the last moments, but never the consistency of the file. One connection, because several halve
// the throughput.
//
// # Speed
//
// A serving connection caches prepared statements; the server has about a hundred, and prepares
// them for every use. The connection does not interrupt statements when a request is cancelled:
// the drivers would start a goroutine for every statement, and hardly any takes a millisecond.
//
// # The server's plugin
//
// The server's own SQLite plugin opens a file by itself, with the driver of a fixed name. Here
// it opens an empty database in memory, whose connection is then replaced by ours. The
// connection is in a private field (see exchange). If a version of the server has it elsewhere,
// the server does not start, and the tests fail.
package store
