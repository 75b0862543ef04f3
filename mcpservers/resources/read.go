package resources

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"time"
)

// Listed is the result of resources_list.
type Listed struct {
	Count     int        `json:"count"`
	Resources []Resource `json:"resources"`
}

// List returns the resources whose name matches pattern, all of them when
// pattern is nil, ordered by name and then id. It never waits for a writer.
func (s *Store) List(ctx context.Context, pattern *regexp.Regexp) (Listed, error) {
	rows, err := s.reads.QueryContext(ctx,
		`SELECT id, name, value, created_at, updated_at FROM resources ORDER BY name, id`)
	if err != nil {
		return Listed{}, fmt.Errorf("query resources: %w", err)
	}
	defer rows.Close()
	found := []Resource{}
	for rows.Next() {
		r, err := scanResource(rows)
		if err != nil {
			return Listed{}, err
		}
		if pattern == nil || pattern.MatchString(r.Name) {
			found = append(found, r)
		}
	}
	if err := rows.Err(); err != nil {
		return Listed{}, fmt.Errorf("read resources: %w", err)
	}
	return Listed{Count: len(found), Resources: found}, nil
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
