package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"agent-stop-and-go/mcpservers/sql/engine"

	"github.com/ncruces/go-sqlite3"
)

// Read implements engine.Engine.
func (e *Engine) Read(ctx context.Context, call engine.Call) (*engine.Table, error) {
	db, end, err := e.open(ctx, true, call.Limits.Timeout)
	if err != nil {
		return nil, err
	}
	defer end()
	if !isExplain(call.Facts.Normalized) {
		if err := db.SetAuthorizer(readsOnly); err != nil {
			return nil, err
		}
	}
	table, err := run(db, call)
	return table, explain(ctx, err)
}

// run runs a statement and collects its rows, at most to the limits.
func run(db *sqlite3.Conn, call engine.Call) (*engine.Table, error) {
	stmt, _, err := db.Prepare(call.Text)
	if err != nil {
		return nil, err
	}
	if stmt == nil {
		return nil, errors.New("there is no statement")
	}
	defer stmt.Close()
	if want := stmt.BindCount(); want != len(call.Params) {
		return nil, fmt.Errorf("the statement has %d parameters, and %d values were given", want, len(call.Params))
	}
	for i, value := range call.Params {
		if err := bind(stmt, i+1, value); err != nil {
			return nil, fmt.Errorf("parameter %d: %w", i+1, err)
		}
	}
	columns := make([]string, stmt.ColumnCount())
	for i := range columns {
		columns[i] = stmt.ColumnName(i)
	}
	table := engine.NewTable(columns, call.Limits)
	for stmt.Step() {
		row := make([]any, len(columns))
		for i := range row {
			row[i] = value(stmt, i)
		}
		// A change is complete only after its last row.
		if !table.Add(row) && stmt.ReadOnly() {
			break
		}
	}
	return table, stmt.Err()
}

func bind(stmt *sqlite3.Stmt, i int, value any) error {
	switch v := value.(type) {
	case nil:
		return stmt.BindNull(i)
	case bool:
		return stmt.BindBool(i, v)
	case string:
		return stmt.BindText(i, v)
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return stmt.BindInt64(i, n)
		}
		f, err := v.Float64()
		return errors.Join(err, stmt.BindFloat(i, f))
	}
	return fmt.Errorf("a %T is no value", value)
}

func value(stmt *sqlite3.Stmt, i int) any {
	switch stmt.ColumnType(i) {
	case sqlite3.INTEGER:
		return stmt.ColumnInt64(i)
	case sqlite3.FLOAT:
		return stmt.ColumnFloat(i)
	case sqlite3.TEXT:
		return stmt.ColumnText(i)
	case sqlite3.BLOB:
		return stmt.ColumnBlob(i, nil)
	}
	return nil
}

// Write implements engine.Engine.
func (e *Engine) Write(ctx context.Context, call engine.Call) (engine.Result, error) {
	return e.change(ctx, call, true)
}

// DryRun implements engine.Engine.
func (e *Engine) DryRun(ctx context.Context, call engine.Call) (engine.Result, error) {
	return e.change(ctx, call, false)
}

// change runs a statement in a transaction, which takes the lock for writers when it begins.
func (e *Engine) change(ctx context.Context, call engine.Call, commit bool) (result engine.Result, err error) {
	db, end, err := e.open(ctx, false, call.Limits.Timeout)
	if err != nil {
		return result, err
	}
	defer end() // rolls back what is not committed
	defer func() { err = explain(ctx, err) }()
	if err := db.Exec("BEGIN IMMEDIATE"); err != nil {
		return result, err
	}
	if commit && e.keys && call.Key.Key != "" {
		if seen, result, err := e.lookUp(db, call.Key); seen || err != nil {
			return result, err
		}
	}
	before := db.TotalChanges()
	table, err := run(db, call)
	if err != nil {
		return result, err
	}
	result.RowsAffected = db.Changes()
	if db.TotalChanges() == before {
		result.RowsAffected = 0
	}
	if len(table.Columns) > 0 {
		result.Returned = table
	}
	if !commit {
		return result, db.Exec("ROLLBACK")
	}
	if e.keys && call.Key.Key != "" {
		if err := store(db, call.Key, result); err != nil {
			return result, err
		}
	}
	return result, db.Exec("COMMIT")
}

// Explain implements engine.Engine.
func (e *Engine) Explain(ctx context.Context, call engine.Call) (engine.Plan, error) {
	plan := engine.Plan{Lines: []string{}, Rows: -1}
	db, end, err := e.open(ctx, true, call.Limits.Timeout)
	if err != nil {
		return plan, err
	}
	defer end()
	stmt, _, err := db.Prepare("EXPLAIN QUERY PLAN " + call.Text)
	if err != nil {
		return plan, explain(ctx, err)
	}
	defer stmt.Close()
	depth := map[int64]int{}
	for stmt.Step() {
		id, parent := stmt.ColumnInt64(0), stmt.ColumnInt64(1)
		depth[id] = depth[parent] + 1
		plan.Lines = append(plan.Lines, strings.Repeat("  ", depth[id]-1)+stmt.ColumnText(3))
	}
	return plan, explain(ctx, stmt.Err())
}
