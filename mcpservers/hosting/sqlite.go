package hosting

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"agent-stop-and-go/mcpservers/hosting/sqlitefile"
)

// sqliteGrain is the maximum delay of used_at. It avoids a write for each request that only
// reads.
const sqliteGrain = 10 * time.Second

type sqliteStore struct{ db *sqlitefile.DB }

const sessionSchema = `
CREATE TABLE IF NOT EXISTS sessions (id TEXT PRIMARY KEY, used_at INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS sessions_by_use ON sessions (used_at);
CREATE TABLE IF NOT EXISTS session_values (
	session TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, PRIMARY KEY (session, key));`

// OpenSessions stores sessions in the SQLite file at path, so that clients can continue after a
// restart without a new handshake. The file may hold other tables, and several processes may
// share it.
func OpenSessions(ctx context.Context, path string) (SessionStore, error) {
	db, err := sqlitefile.Open(ctx, path, sessionSchema)
	if err != nil {
		return nil, fmt.Errorf("open sessions: %w", err)
	}
	return &sqliteStore{db}, nil
}

func (s *sqliteStore) Create(ctx context.Context, id string, now time.Time) error {
	_, err := s.db.Writes.ExecContext(ctx, `INSERT INTO sessions (id, used_at) VALUES (?, ?)`, id, now.UnixMilli())
	return wrap("create session", err)
}

func (s *sqliteStore) Use(ctx context.Context, id string, now, idleSince time.Time) error {
	var used int64
	err := s.db.Reads.QueryRowContext(ctx, `SELECT used_at FROM sessions WHERE id = ?`, id).Scan(&used)
	if errors.Is(err, sql.ErrNoRows) || err == nil && used < idleSince.UnixMilli() {
		return ErrNoSession
	}
	grain := min(sqliteGrain, now.Sub(idleSince)/4)
	if idleSince.IsZero() {
		grain = 0
	}
	if err != nil || now.UnixMilli()-used < grain.Milliseconds() {
		return wrap("look up session", err)
	}
	_, err = s.db.Writes.ExecContext(ctx, `UPDATE sessions SET used_at = max(used_at, ?) WHERE id = ?`, now.UnixMilli(), id)
	return wrap("note use of session", err)
}

func (s *sqliteStore) Delete(ctx context.Context, id string) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM session_values WHERE session = ?`, id); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM sessions WHERE id = ?`, id)
		return err
	})
}

func (s *sqliteStore) Expire(ctx context.Context, idleSince time.Time) ([]string, error) {
	return s.deleteSessions(ctx, `DELETE FROM sessions WHERE used_at < ? RETURNING id`, idleSince.UnixMilli())
}

func (s *sqliteStore) Trim(ctx context.Context, most int) ([]string, error) {
	return s.deleteSessions(ctx, `DELETE FROM sessions WHERE id IN (
		SELECT id FROM sessions ORDER BY used_at DESC, rowid DESC LIMIT -1 OFFSET ?) RETURNING id`, most)
}

func (s *sqliteStore) Count(ctx context.Context) (n int, err error) {
	err = s.db.Reads.QueryRowContext(ctx, `SELECT count(*) FROM sessions`).Scan(&n)
	return n, wrap("count sessions", err)
}

// deleteSessions runs a statement that deletes sessions and returns their ids.
func (s *sqliteStore) deleteSessions(ctx context.Context, statement string, argument any) (ids []string, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, statement, argument)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id string
			if err := rows.Scan(&id); err != nil {
				return err
			}
			ids = append(ids, id)
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM session_values WHERE session NOT IN (SELECT id FROM sessions)`)
		return err
	})
	return ids, err
}

func (s *sqliteStore) Value(ctx context.Context, id, key string) ([]byte, error) {
	var value []byte
	err := s.db.Reads.QueryRowContext(ctx, `SELECT v.value FROM sessions s
		LEFT JOIN session_values v ON v.session = s.id AND v.key = ? WHERE s.id = ?`, key, id).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrNoSession
	}
	return value, wrap("read session value", err)
}

func (s *sqliteStore) SetValue(ctx context.Context, id, key string, value []byte) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		var known int
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM sessions WHERE id = ?`, id).Scan(&known); err != nil {
			return err
		}
		if known == 0 {
			return ErrNoSession
		}
		if value == nil {
			_, err := tx.ExecContext(ctx, `DELETE FROM session_values WHERE session = ? AND key = ?`, id, key)
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO session_values (session, key, value) VALUES (?, ?, ?)
			ON CONFLICT (session, key) DO UPDATE SET value = excluded.value`, id, key, value)
		return err
	})
}

func (s *sqliteStore) Close() error { return s.db.Close() }

func (s *sqliteStore) write(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := s.db.Writes.BeginTx(ctx, nil)
	if err != nil {
		return wrap("begin", err)
	}
	defer tx.Rollback()
	if err := do(tx); err != nil {
		return wrap("change sessions", err)
	}
	return wrap("commit", tx.Commit())
}

func wrap(what string, err error) error {
	if err == nil || errors.Is(err, ErrNoSession) {
		return err
	}
	return fmt.Errorf("%s: %w", what, err)
}
