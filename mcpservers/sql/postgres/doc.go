// Package postgres classifies statements of PostgreSQL with its own grammar (libpg_query, compiled
// to WebAssembly: github.com/wasilibs/go-pgquery), and runs them with github.com/jackc/pgx.
//
// The tree is walked whole: every node has to be known, and every function that is called has to
// be in functions.txt, else the statement is no read. What views, triggers, casts and operators
// do is not in the text; the engine's read-only transaction and the rights of the role are the
// boundary for that.
//
// The stack of the parser is small and overflows without an error, so texts that could be too deep
// are refused before it, see statement.Syntax.Depth.
//
//	classify.go command.go walk.go functions.txt   what a statement does
//	engine.go run.go keys.go schema.go             connections, calls, idempotency keys, tables
package postgres
