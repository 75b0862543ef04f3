package resources

import (
	"context"
	"sync/atomic"
	"time"

	"agent-stop-and-go/mcpservers/hosting/sqlitefile"
)

// Resource is one stored row, in the form of the results.
type Resource struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Value     int64     `json:"value"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// Store stores resources in one SQLite file. It is safe for concurrent use, and several
// processes may use the same file. Use [Open]; the zero value is not usable.
type Store struct {
	db     *sqlitefile.DB
	ids    idSource
	pruned atomic.Int64 // unix nanoseconds of the last prune
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

// Open opens the database file at path, creating it and its directory (mode
// 0700) when they are missing. Close releases it.
func Open(ctx context.Context, path string) (*Store, error) {
	db, err := sqlitefile.Open(ctx, path, schema)
	if err != nil {
		return nil, err
	}
	return &Store{db: db}, nil
}

// Close waits for running calls and closes the file.
func (s *Store) Close() error { return s.db.Close() }
