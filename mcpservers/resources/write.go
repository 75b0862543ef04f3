package resources

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"regexp"
	"time"

	"agent-stop-and-go/mcpservers/hosting"
)

// Filter selects resources: the one with ID, and all whose name matches Pattern. An empty ID
// and a nil Pattern select nothing.
type Filter struct {
	ID      string
	Pattern *regexp.Regexp
}

// RemoveResult is the result of resources_remove. RemovedIDs is ordered by the name
// of the resource, then by id.
type RemoveResult struct {
	RemovedCount int      `json:"removed_count"`
	RemovedIDs   []string `json:"removed_ids"`
}

// Add stores a new resource, or returns the result of the first call with the same
// [hosting.CallKey].
func (s *Store) Add(ctx context.Context, callKey hosting.CallKey, name string, value int64) (Resource, error) {
	return write(ctx, s, toolAdd, callKey, func(tx *sql.Tx) (Resource, error) {
		return s.insert(ctx, tx, name, value)
	})
}

// Remove deletes the selected resources in one transaction. If the [hosting.CallKey] was used
// before, it deletes nothing and returns the first result.
func (s *Store) Remove(ctx context.Context, callKey hosting.CallKey, filter Filter) (RemoveResult, error) {
	return write(ctx, s, toolRemove, callKey, func(tx *sql.Tx) (RemoveResult, error) {
		ids, err := selectIDs(ctx, tx, filter)
		if err != nil {
			return RemoveResult{}, err
		}
		return RemoveResult{RemovedCount: len(ids), RemovedIDs: ids}, deleteIDs(ctx, tx, ids)
	})
}

func (s *Store) insert(ctx context.Context, tx *sql.Tx, name string, value int64) (Resource, error) {
	for {
		now := time.Now().UTC()
		r := Resource{ID: s.ids.next(now), Name: name, Value: value, CreatedAt: now, UpdatedAt: now}
		done, err := tx.ExecContext(ctx,
			`INSERT INTO resources (id, name, value, created_at, updated_at) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (id) DO NOTHING`, r.ID, r.Name, r.Value, timeText(now), timeText(now))
		if err != nil {
			return Resource{}, fmt.Errorf("insert resource: %w", err)
		}
		n, err := done.RowsAffected()
		if err != nil {
			return Resource{}, fmt.Errorf("insert resource: %w", err)
		}
		if n == 1 { // 0: another process used this ID
			return r, nil
		}
	}
}

func selectIDs(ctx context.Context, tx *sql.Tx, filter Filter) ([]string, error) {
	query, args := `SELECT id, name FROM resources ORDER BY name, id`, []any{}
	if filter.Pattern == nil {
		query, args = `SELECT id, name FROM resources WHERE id = ?`, []any{filter.ID}
	}
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("select resources: %w", err)
	}
	defer rows.Close()
	ids := []string{}
	for rows.Next() {
		var id, name string
		if err := rows.Scan(&id, &name); err != nil {
			return nil, fmt.Errorf("select resources: %w", err)
		}
		if id == filter.ID || filter.Pattern.MatchString(name) {
			ids = append(ids, id)
		}
	}
	return ids, rows.Err()
}

func deleteIDs(ctx context.Context, tx *sql.Tx, ids []string) error {
	list, err := json.Marshal(ids)
	if err != nil {
		return fmt.Errorf("delete resources: %w", err)
	}
	if _, err := tx.ExecContext(ctx,
		`DELETE FROM resources WHERE id IN (SELECT value FROM json_each(?))`, string(list)); err != nil {
		return fmt.Errorf("delete resources: %w", err)
	}
	return nil
}
