package resources

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"agent-stop-and-go/mcpservers/hosting"
)

const pruneEvery = time.Hour

// write runs do in a transaction, which takes the file's write lock when it begins. The result
// is stored under the key in the same transaction.
func write[R any](ctx context.Context, s *Store, tool string, callKey hosting.CallKey, do func(*sql.Tx) (R, error)) (R, error) {
	var zero R
	tx, err := s.db.Writes.BeginTx(ctx, nil)
	if err != nil {
		return zero, fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback()
	var result R
	if seen, err := loadResult(ctx, tx, tool, callKey, &result); seen || err != nil {
		return result, err
	}
	if result, err = do(tx); err != nil {
		return zero, err
	}
	if err := s.remember(ctx, tx, tool, callKey, result); err != nil {
		return zero, err
	}
	if err := tx.Commit(); err != nil {
		return zero, fmt.Errorf("commit: %w", err)
	}
	return result, nil
}

// loadResult decodes the stored result of an earlier call into result and reports whether there is
// one.
func loadResult(ctx context.Context, tx *sql.Tx, tool string, callKey hosting.CallKey, result any) (bool, error) {
	if callKey.Key == "" {
		return false, nil
	}
	var seenTool, seenArgs, stored string
	err := tx.QueryRowContext(ctx, `SELECT tool, args_sha256, result FROM idempotency WHERE key = ?`, callKey.Key).
		Scan(&seenTool, &seenArgs, &stored)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("look up idempotency key: %w", err)
	case seenTool != tool || seenArgs != callKey.ArgsSHA256:
		return false, hosting.ErrKeyReused
	}
	if err := json.Unmarshal([]byte(stored), result); err != nil {
		return false, fmt.Errorf("read stored result: %w", err)
	}
	return true, nil
}

func (s *Store) remember(ctx context.Context, tx *sql.Tx, tool string, callKey hosting.CallKey, result any) error {
	if callKey.Key == "" {
		return nil
	}
	text, err := json.Marshal(result)
	if err != nil {
		return fmt.Errorf("encode result: %w", err)
	}
	now := time.Now()
	if _, err := tx.ExecContext(ctx,
		`INSERT INTO idempotency (key, tool, args_sha256, result, created_at) VALUES (?, ?, ?, ?, ?)`,
		callKey.Key, tool, callKey.ArgsSHA256, string(text), timeText(now)); err != nil {
		return fmt.Errorf("store idempotency key: %w", err)
	}
	return s.prune(ctx, tx, now)
}

// prune deletes expired keys, at most once an hour per process. If the transaction is rolled
// back, the next prune is only delayed.
func (s *Store) prune(ctx context.Context, tx *sql.Tx, now time.Time) error {
	last := s.pruned.Load()
	if now.UnixNano()-last < int64(pruneEvery) || !s.pruned.CompareAndSwap(last, now.UnixNano()) {
		return nil
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM idempotency WHERE created_at < ?`,
		timeText(now.Add(-hosting.ResultRetention))); err != nil {
		return fmt.Errorf("prune idempotency keys: %w", err)
	}
	return nil
}
