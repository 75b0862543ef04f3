package resources

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
)

// busyTimeout is how long a call waits for another process to finish writing.
const busyTimeout = 10 * time.Second

// Resource is one stored row, as it appears on the wire.
type Resource struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Value     int64     `json:"value"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// Store keeps resources in one SQLite file. It is safe for concurrent use, and
// several processes may hold the same file open. Use [Open]; the zero value is
// not usable.
type Store struct {
	writes *sql.DB // one connection, so writers of this process queue here
	reads  *sql.DB
	ids    idSource
	pruned atomic.Int64 // unix nanoseconds of the last look for old idempotency keys
}

// Open opens the database file at path, creating it and its directory (mode
// 0700) when they are missing. Close releases it.
func Open(ctx context.Context, path string) (*Store, error) {
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
	s := &Store{}
	if err := s.connect(ctx, path); err != nil {
		return nil, errors.Join(fmt.Errorf("open database %s: %w", path, err), s.Close())
	}
	return s, nil
}

// Close waits for running calls and closes the file.
func (s *Store) Close() error {
	var errs []error
	for _, db := range []*sql.DB{s.reads, s.writes} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

func (s *Store) connect(ctx context.Context, path string) (err error) {
	if s.writes, err = sql.Open(Driver, dataSource(path, "journal_mode", "WAL")+"&_txlock=immediate"); err != nil {
		return err
	}
	s.writes.SetMaxOpenConns(1)
	if err := whileBusy(ctx, func() error { return s.migrate(ctx) }); err != nil {
		return err
	}
	if s.reads, err = sql.Open(Driver, dataSource(path, "query_only", "true")); err != nil {
		return err
	}
	s.reads.SetMaxOpenConns(8)
	s.reads.SetMaxIdleConns(8)
	return s.reads.PingContext(ctx)
}

// dataSource builds a connection string that sets pragmas, first the timeout,
// because setting another may have to wait.
func dataSource(path string, pragma, value string) string {
	query := url.Values{}
	setPragma(query, "busy_timeout", fmt.Sprint(busyTimeout.Milliseconds()))
	setPragma(query, "synchronous", "FULL")
	setPragma(query, pragma, value)
	return "file:" + (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath() + "?" + query.Encode()
}

const schema = `
CREATE TABLE IF NOT EXISTS resources (
	id TEXT PRIMARY KEY, name TEXT NOT NULL, value INTEGER NOT NULL,
	created_at TEXT NOT NULL, updated_at TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS resources_by_name ON resources (name, id);
CREATE TABLE IF NOT EXISTS idempotency (
	key TEXT PRIMARY KEY, tool TEXT NOT NULL, args_sha256 TEXT NOT NULL,
	result TEXT NOT NULL, created_at TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS idempotency_by_age ON idempotency (created_at);`

func (s *Store) migrate(ctx context.Context) error {
	tx, err := s.writes.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, schema); err != nil {
		return fmt.Errorf("create tables: %w", err)
	}
	return tx.Commit()
}

// whileBusy repeats open until no other process is in its way. SQLite does not
// honour busy_timeout while a file turns to WAL: of 300 runs with 8 openers of a
// new file, 12 failed with mattn and 3 with modernc.
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
