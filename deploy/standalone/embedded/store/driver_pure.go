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

// options are the pragmas in a source, and times as the other driver writes them.
func options(pragmas [][2]string) string {
	var b strings.Builder
	b.WriteString("&_time_format=sqlite")
	for _, p := range pragmas {
		b.WriteString("&_pragma=" + p[0] + "=" + p[1])
	}
	return b.String()
}

// isDuplicate reports whether there is such a row already.
func isDuplicate(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && (e.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY || e.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE)
}
