package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"strings"
)

// serving has the pragmas of a connection for a server.
var serving = [][2]string{
	{"busy_timeout", "10000"},
	{"journal_mode", "wal"},
	{"synchronous", "normal"},
}

// Open opens a database with one connection. A missing file is created; ":memory:" uses no
// file.
func Open(path string) (*sql.DB, error) {
	return connect(connector{source: source(path, "rwc", nil)})
}

// OpenServing opens an existing file, with one connection that caches its statements.
func OpenServing(path string) (*sql.DB, error) {
	return connect(connector{source: source(path, "rw", serving), keep: true})
}

func connect(c connector) (*sql.DB, error) {
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(1)
	if err := db.Ping(); err != nil {
		_ = db.Close() // nothing has been opened
		return nil, err
	}
	return db, nil
}

// connector opens connections of the driver.
type connector struct {
	source string
	keep   bool // statements
}

func (connector) Driver() driver.Driver { return sqliteDriver }

func (c connector) Connect(context.Context) (driver.Conn, error) {
	opened, err := sqliteDriver.Open(c.source)
	if err != nil || !c.keep {
		return opened, err
	}
	return &conn{driverConn: opened.(driverConn), statements: map[string]driver.Stmt{}}, nil
}

// source formats the data source name for the driver.
func source(path, mode string, pragmas [][2]string) string {
	if path == ":memory:" {
		return path
	}
	return "file:" + Escape(path) + "?mode=" + mode + options(pragmas)
}

// Escape escapes a path for the URI of SQLite.
func Escape(path string) string {
	return strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path)
}
