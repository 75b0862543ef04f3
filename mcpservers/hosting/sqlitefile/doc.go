// Package sqlitefile opens SQLite files for a server: with WAL mode, synchronous FULL, one
// connection for writers, and a timeout for locks of other processes.
//
//	db, err := sqlitefile.Open(ctx, "./data/things.db", "CREATE TABLE IF NOT EXISTS …")
//	defer db.Close()
//	tx, err := db.Writes.BeginTx(ctx, nil) // holds the write lock from its start
//	rows, err := db.Reads.QueryContext(ctx, …) // never waits for a writer
//
// With cgo the driver is mattn/go-sqlite3, without it modernc.org/sqlite; the
// build tag sqlite_pure forces the second. SQL must suit both.
package sqlitefile
