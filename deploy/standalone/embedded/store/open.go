package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"strings"
)

// serving are the pragmas of a connection for a server.
var serving = [][2]string{
	{"busy_timeout", "10000"},
	{"journal_mode", "wal"},
	{"synchronous", "normal"},
}

// Open opens a database by one connection. A file is created if it is missing; ":memory:" is none.
func Open(path string) (*sql.DB, error) {
	return connect(connector{source: source(path, "rwc", nil)})
}

// OpenServing opens a file that exists, by one connection that keeps its statements.
func OpenServing(path string) (*sql.DB, error) {
	return connect(connector{source: source(path, "rw", serving), keep: true})
}

func connect(c connector) (*sql.DB, error) {
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(1)
	if err := db.Ping(); err != nil {
		_ = db.Close() // it has no connection
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

// source is what a driver is given to open.
func source(path, mode string, pragmas [][2]string) string {
	if path == ":memory:" {
		return path
	}
	return "file:" + Escape(path) + "?mode=" + mode + options(pragmas)
}

// Escape keeps a path whole inside the URI that SQLite is given.
func Escape(path string) string {
	return strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path)
}
