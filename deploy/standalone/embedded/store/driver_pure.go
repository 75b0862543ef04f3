//go:build !cgo || !sqlite_fts5

package store

import (
	"database/sql/driver"
	"errors"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

var sqliteDriver driver.Driver = &sqlite.Driver{}

// options formats the pragmas of a source, and sets the time format of the other driver.
func options(pragmas [][2]string) string {
	var b strings.Builder
	b.WriteString("&_time_format=sqlite")
	for _, p := range pragmas {
		b.WriteString("&_pragma=" + p[0] + "=" + p[1])
	}
	return b.String()
}

// isDuplicate reports whether err says that the row already exists.
func isDuplicate(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && (e.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY || e.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE)
}
