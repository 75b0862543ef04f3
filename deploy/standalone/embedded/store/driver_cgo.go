//go:build cgo && sqlite_fts5

package store

import (
	"database/sql/driver"
	"errors"
	"strings"

	"github.com/mattn/go-sqlite3"
)

var sqliteDriver driver.Driver = &sqlite3.SQLiteDriver{}

// options formats the pragmas of a source. One goroutine at a time uses a connection, so SQLite
// needs no mutex.
func options(pragmas [][2]string) string {
	var b strings.Builder
	b.WriteString("&_mutex=no")
	for _, p := range pragmas {
		b.WriteString("&_" + p[0] + "=" + p[1])
	}
	return b.String()
}

// isDuplicate reports whether err says that the row already exists.
func isDuplicate(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && (e.ExtendedCode == sqlite3.ErrConstraintPrimaryKey || e.ExtendedCode == sqlite3.ErrConstraintUnique)
}

// copying is a copy that is being made.
type copying struct {
	backup *sqlite3.SQLiteBackup
	to     driver.Conn
}

func newCopying(from any, to string) (*copying, error) {
	conn, err := sqliteDriver.Open(source(to, "rwc", nil))
	if err != nil {
		return nil, err
	}
	b, err := conn.(*sqlite3.SQLiteConn).Backup("main", from.(*sqlite3.SQLiteConn), "main")
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return &copying{b, conn}, nil
}

func (c *copying) step(pages int) (more bool, err error) {
	done, err := c.backup.Step(pages)
	return !done, err
}

func (c *copying) close() error { return errors.Join(c.backup.Close(), c.to.Close()) }
