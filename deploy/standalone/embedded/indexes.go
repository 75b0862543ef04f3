package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"
)

// searched are the indexes of the visibility table that are used: by this project, for its
// search attributes, or in the Web UI. The server's schema has an index for nearly every
// column, 58 in all, and each start, change and end of a workflow is written to all of them.
// Indexes of empty columns were two thirds of all written pages. A search by a column without
// an index works, and reads all rows.
var searched = append([]string{
	"default_idx", "by_workflow_id", "by_workflow_type", "by_status", "by_parent_workflow_id", "by_datetime_01",
}, keywords(10)...)

func keywords(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("by_keyword_%02d", i+1))
	}
	return names
}

// dropIndexes removes the indexes that are not in searched. A failure is only logged, because
// the database works with them. Older agents run without them.
func dropIndexes(ctx context.Context, db *sql.DB, log *slog.Logger) {
	names, err := unsearched(ctx, db)
	if err == nil && len(names) > 0 {
		err = drop(ctx, db, names)
	}
	if err != nil {
		log.Warn("drop the indexes that nobody searches by: the agent runs with them, but writes more", "error", err)
	}
}

func drop(ctx context.Context, db *sql.DB, indexes []string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	for _, name := range indexes {
		if _, err := tx.ExecContext(ctx, "DROP INDEX "+name); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	return tx.Commit()
}

// unsearched lists the existing indexes that are not in searched.
func unsearched(ctx context.Context, db *sql.DB) (names []string, err error) {
	rows, err := db.QueryContext(ctx, "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'executions_visibility' AND sql IS NOT NULL")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		if !slices.Contains(searched, name) {
			names = append(names, name)
		}
	}
	return names, rows.Err()
}
