// Package mysql classifies statements of MySQL and MariaDB with TiDB's parser, and runs them with
// go-sql-driver/mysql.
//
// The parser is not that of the server, and what it does not understand is
// [statement.Unknown]. Comments that a server runs (/*! … */, /*M! … */) and hints are Unknown,
// too, because what is run then depends on the server's version. A connection has a fixed SQL
// mode and character set, so that both read a text alike.
//
//	classify.go visit.go functions.txt   what a statement does
//	engine.go run.go keys.go schema.go   connections, calls, idempotency keys, tables
package mysql
