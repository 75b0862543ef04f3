package postgres

import (
	"context"
	"strings"

	"agent-stop-and-go/mcpservers/sql/engine"

	"github.com/jackc/pgx/v5"
)

const schemaQuery = `SELECT n.nspname, c.relname, CASE WHEN c.relkind IN ('v', 'm') THEN 'view' ELSE 'table' END,
		a.attname, format_type(a.atttypid, a.atttypmod), NOT a.attnotnull,
		EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary AND a.attnum = ANY (i.indkey))
	FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
	WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND a.attnum > 0 AND NOT a.attisdropped AND c.relname <> $3
		AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\_t%'
		AND has_any_column_privilege(c.oid, 'SELECT') AND ($1 = '' OR n.nspname = $1) AND ($2 = '' OR c.relname = $2)
	ORDER BY n.nspname, c.relname, a.attnum`

// Schema implements engine.Engine. It has the tables that the reading role may read.
func (e *Engine) Schema(ctx context.Context, name string) (schema engine.Schema, err error) {
	schema.Tables = []engine.TableInfo{}
	space, table, ok := strings.Cut(name, ".")
	if !ok {
		space, table = "", name
	}
	call := engine.Call{Limits: engine.Limits{Timeout: e.config.Timeout}}
	err = within(ctx, e.reads, call, pgx.ReadOnly, func(ctx context.Context, tx pgx.Tx) (bool, error) {
		rows, err := tx.Query(ctx, schemaQuery, space, table, engine.KeyTable)
		if err != nil {
			return false, err
		}
		defer rows.Close()
		for rows.Next() {
			var t engine.TableInfo
			var c engine.ColumnInfo
			if err := rows.Scan(&t.Schema, &t.Name, &t.Type, &c.Name, &c.Type, &c.Nullable, &c.Key); err != nil {
				return false, err
			}
			if !schema.Add(t, c) {
				break
			}
		}
		return false, rows.Err()
	})
	return schema, err
}
