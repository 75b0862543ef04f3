package mysql

import (
	"context"
	"database/sql"
	"strings"

	"agent-stop-and-go/mcpservers/sql/engine"
)

const schemaQuery = `SELECT t.table_schema, t.table_name, IF(t.table_type LIKE '%VIEW', 'view', 'table'),
		c.column_name, c.column_type, c.is_nullable = 'YES', c.column_key = 'PRI'
	FROM information_schema.tables t JOIN information_schema.columns c ON c.table_schema = t.table_schema AND c.table_name = t.table_name
	WHERE t.table_schema = IF(? = '', database(), ?) AND (? = '' OR t.table_name = ?) AND t.table_name <> ?
	ORDER BY t.table_name, c.ordinal_position`

// Schema implements engine.Engine. It has the tables of the database that the reading user sees.
func (e *Engine) Schema(ctx context.Context, name string) (engine.Schema, error) {
	schema := engine.Schema{Tables: []engine.TableInfo{}}
	space, table, ok := strings.Cut(name, ".")
	if !ok {
		space, table = "", name
	}
	call := engine.Call{Limits: engine.Limits{Timeout: e.config.Timeout}}
	err := on(ctx, e.reads, call, func(ctx context.Context, conn *sql.Conn) error {
		rows, err := conn.QueryContext(ctx, schemaQuery, space, space, table, table, engine.KeyTable)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var t engine.TableInfo
			var c engine.ColumnInfo
			if err := rows.Scan(&t.Schema, &t.Name, &t.Type, &c.Name, &c.Type, &c.Nullable, &c.Key); err != nil {
				return err
			}
			if !schema.Add(t, c) {
				break
			}
		}
		return rows.Err()
	})
	return schema, err
}
