package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"
)

// searched are the indexes of the lists' table that anybody searches by: this project, its search attributes, or a person
// in the Web UI. The server's schema has one for nearly every column it knows, 58 in all, and a workflow that starts,
// changes or ends is written to each of them: two thirds of all pages that were written, for columns that are empty.
// A search by another column works too, and reads all rows.
var searched = append([]string{
	"default_idx", "by_workflow_id", "by_workflow_type", "by_status", "by_parent_workflow_id", "by_datetime_01",
}, keywords(10)...)

func keywords(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("by_keyword_%02d", i+1))
	}
	return names
}

// dropIndexes removes the indexes that nobody searches by. A database is usable with them, so a failure is only logged.
// An agent from before takes no notice.
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

// unsearched lists the indexes that are there and nobody searches by.
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
