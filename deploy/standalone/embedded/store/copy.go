package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// pagesAtOnce bounds how long Copy runs before it looks whether it should end.
const pagesAtOnce = 1000

// OpenReading opens an existing file that other processes may be using, with one connection.
func OpenReading(path string) (*sql.DB, error) {
	return connect(connector{source: source(path, "rw", [][2]string{{"busy_timeout", "10000"}})})
}

// Copy copies a database to a new file. The connection must be one of OpenReading. In a
// transaction the copy is what the transaction sees, whatever others write meanwhile.
func Copy(ctx context.Context, from *sql.Conn, to string) error {
	err := from.Raw(func(raw any) (err error) {
		c, err := newCopying(raw, to)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, c.close()) }()
		for {
			more, err := c.step(pagesAtOnce)
			if err = errors.Join(err, ctx.Err()); err != nil || !more {
				return err
			}
		}
	})
	if err != nil {
		return fmt.Errorf("copy the database to %s: %w", to, err)
	}
	return nil
}
