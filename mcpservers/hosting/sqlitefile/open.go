package sqlitefile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// busyTimeout is how long a call waits for another process to finish writing.
const busyTimeout = 10 * time.Second

// DB is one open file. Both handles are safe for concurrent use.
type DB struct {
	Writes *sql.DB // one connection, so that the writers of this process are serialized
	Reads  *sql.DB // several read-only connections
}

// Open opens the file at path and runs schema, which must be idempotent. It creates a missing
// file and its directory (mode 0700).
func Open(ctx context.Context, path, schema string) (*DB, error) {
	if path == "" || strings.HasPrefix(path, ":memory:") {
		return nil, fmt.Errorf("open database %q: a file path is needed", path)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("create directory of database %s: %w", path, err)
	}
	db := &DB{}
	if err := db.connect(ctx, path, schema); err != nil {
		return nil, errors.Join(fmt.Errorf("open database %s: %w", path, err), db.Close())
	}
	return db, nil
}

// Close waits for running calls and closes the file.
func (db *DB) Close() error {
	var errs []error
	for _, handle := range []*sql.DB{db.Reads, db.Writes} {
		if handle != nil {
			errs = append(errs, handle.Close())
		}
	}
	return errors.Join(errs...)
}

func (db *DB) connect(ctx context.Context, path, schema string) (err error) {
	if db.Writes, err = sql.Open(Driver, dataSource(path, "journal_mode", "WAL")+"&_txlock=immediate"); err != nil {
		return err
	}
	db.Writes.SetMaxOpenConns(1)
	if err := whileBusy(ctx, func() error { return db.migrate(ctx, schema) }); err != nil {
		return err
	}
	if db.Reads, err = sql.Open(Driver, dataSource(path, "query_only", "true")); err != nil {
		return err
	}
	db.Reads.SetMaxOpenConns(8)
	db.Reads.SetMaxIdleConns(8)
	return db.Reads.PingContext(ctx)
}

// dataSource returns a connection string that sets pragmas. The timeout is first, because
// setting the others may have to wait.
func dataSource(path string, pragma, value string) string {
	query := url.Values{}
	setPragma(query, "busy_timeout", fmt.Sprint(busyTimeout.Milliseconds()))
	setPragma(query, "synchronous", "FULL")
	setPragma(query, pragma, value)
	return "file:" + (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath() + "?" + query.Encode()
}

func (db *DB) migrate(ctx context.Context, schema string) error {
	tx, err := db.Writes.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, schema); err != nil {
		return fmt.Errorf("create tables: %w", err)
	}
	return tx.Commit()
}

// whileBusy repeats open while another process has the file locked. SQLite does not honour
// busy_timeout while a file changes to WAL: of 300 runs with 8 openers of a new file, 12 failed
// with mattn and 3 with modernc.
func whileBusy(ctx context.Context, open func() error) error {
	ctx, cancel := context.WithTimeout(ctx, busyTimeout)
	defer cancel()
	for {
		err := open()
		if err == nil || !strings.Contains(err.Error(), "locked") {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(20 * time.Millisecond):
		}
	}
}
