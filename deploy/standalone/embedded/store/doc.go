// Package store opens the SQLite file of the embedded server, and lends the connection to it.
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
// Everything in this process has to open a file with the driver of this package. Two SQLites in one process do not know of
// each other's locks.
//
// # Durability
//
// A serving connection uses WAL mode with synchronous=NORMAL: a killed process loses nothing that was committed. A machine
// that loses power may lose the last moments, but never the consistency of the file. One connection, because several halve
// the throughput.
//
// # What makes it fast
//
// A serving connection keeps the statements that it has prepared; the server has some hundred, and prepares each anew for
// every use. It does not interrupt statements when a request is cancelled: for that, the drivers start a goroutine for every
// statement, and hardly any takes as long as a millisecond.
//
// # The server's plugin
//
// The server's own SQLite plugin opens a file by itself, by the name of a driver. It is given an empty database in memory
// instead, and then the connection is exchanged for ours. The connection is in a private field (see exchange); a server
// that has it elsewhere does not start, and fails the tests.
package store
