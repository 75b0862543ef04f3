package sqlite

import (
	"context"

	"agent-stop-and-go/mcpservers/sql/engine"
)

const schemaQuery = `SELECT t.name, t.type, c.name, c.type, c."notnull", c.pk
	FROM pragma_table_list t JOIN pragma_table_xinfo(t.name) c
	WHERE t.schema = 'main' AND t.name NOT LIKE 'sqlite\_%' ESCAPE '\' AND t.name <> '` + engine.KeyTable + `'
	AND (?1 = '' OR t.name = ?1 COLLATE NOCASE) AND t.type IN ('table', 'view', 'virtual') ORDER BY t.name, c.cid`

// Schema implements engine.Engine.
func (e *Engine) Schema(ctx context.Context, name string) (engine.Schema, error) {
	schema := engine.Schema{Tables: []engine.TableInfo{}}
	db, end, err := e.open(ctx, true, e.timeout)
	if err != nil {
		return schema, err
	}
	defer end()
	stmt, _, err := db.Prepare(schemaQuery)
	if err != nil {
		return schema, explain(ctx, err)
	}
	defer stmt.Close()
	if err := stmt.BindText(1, name); err != nil {
		return schema, err
	}
	for stmt.Step() {
		kind := stmt.ColumnText(1)
		if kind == "virtual" {
			kind = "table"
		}
		if !schema.Add(engine.TableInfo{Name: stmt.ColumnText(0), Type: kind}, engine.ColumnInfo{
			Name: stmt.ColumnText(2), Type: stmt.ColumnText(3), Nullable: stmt.ColumnInt(4) == 0, Key: stmt.ColumnInt(5) > 0,
		}) {
			break
		}
	}
	return schema, explain(ctx, stmt.Err())
}
