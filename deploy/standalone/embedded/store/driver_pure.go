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

// copying is a copy that is being made.
type copying struct{ backup *sqlite.Backup }

func newCopying(from any, to string) (*copying, error) {
	b, err := from.(interface {
		NewBackup(to string) (*sqlite.Backup, error)
	}).NewBackup(source(to, "rwc", nil))
	if err != nil {
		return nil, err
	}
	return &copying{b}, nil
}

func (c *copying) step(pages int) (more bool, err error) { return c.backup.Step(int32(pages)) }

func (c *copying) close() error { return c.backup.Finish() }
