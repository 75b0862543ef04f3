// Package sqlite classifies and runs statements on a SQLite file with github.com/ncruces/go-sqlite3,
// which needs no C compiler and gives access to the authorizer and to sqlite3_stmt_readonly.
//
// The engine itself says what a statement does: its authorizer is asked for every table, column
// and function while the statement is compiled, also for those behind views and triggers. A read
// opens the file read-only, and its authorizer permits nothing but reading. Every call has a
// connection of its own.
//
//	classify.go   what a statement does
//	engine.go     connections
//	run.go        calls
//	keys.go       idempotency keys
//	schema.go     tables
package sqlite
