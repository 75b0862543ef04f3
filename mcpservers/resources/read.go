package resources

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"time"
)

// ListResult is the result of resources_list.
type ListResult struct {
	Count     int        `json:"count"`
	Resources []Resource `json:"resources"`
}

// List returns the resources whose name matches pattern, ordered by name and then id. A nil
// pattern matches all. It never waits for a writer.
func (s *Store) List(ctx context.Context, pattern *regexp.Regexp) (ListResult, error) {
	all, err := s.query(ctx, `ORDER BY name, id`)
	if err != nil {
		return ListResult{}, err
	}
	if pattern != nil {
		all = slices.DeleteFunc(all, func(r Resource) bool { return !pattern.MatchString(r.Name) })
	}
	return ListResult{Count: len(all), Resources: all}, nil
}

// Get returns the resource with an id and whether it exists.
func (s *Store) Get(ctx context.Context, id string) (Resource, bool, error) {
	found, err := s.query(ctx, `WHERE id = ?`, id)
	if err != nil || len(found) == 0 {
		return Resource{}, false, err
	}
	return found[0], true, nil
}

// Page returns up to limit resources after the given one, ordered by name and then id. The zero
// Resource is before the first.
func (s *Store) Page(ctx context.Context, after Resource, limit int) ([]Resource, error) {
	return s.query(ctx, `WHERE (name, id) > (?, ?) ORDER BY name, id LIMIT ?`, after.Name, after.ID, limit)
}

func (s *Store) query(ctx context.Context, rest string, args ...any) ([]Resource, error) {
	rows, err := s.db.Reads.QueryContext(ctx, `SELECT id, name, value, created_at, updated_at FROM resources `+rest, args...)
	if err != nil {
		return nil, fmt.Errorf("query resources: %w", err)
	}
	defer rows.Close()
	found := []Resource{}
	for rows.Next() {
		r, err := scanResource(rows)
		if err != nil {
			return nil, err
		}
		found = append(found, r)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read resources: %w", err)
	}
	return found, nil
}

func scanResource(rows *sql.Rows) (Resource, error) {
	var r Resource
	var created, updated string
	if err := rows.Scan(&r.ID, &r.Name, &r.Value, &created, &updated); err != nil {
		return Resource{}, fmt.Errorf("read resource: %w", err)
	}
	var err error
	if r.CreatedAt, err = time.Parse(time.RFC3339Nano, created); err != nil {
		return Resource{}, fmt.Errorf("read created_at of resource %s: %w", r.ID, err)
	}
	if r.UpdatedAt, err = time.Parse(time.RFC3339Nano, updated); err != nil {
		return Resource{}, fmt.Errorf("read updated_at of resource %s: %w", r.ID, err)
	}
	return r, nil
}
