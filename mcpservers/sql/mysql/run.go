package mysql

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"agent-stop-and-go/mcpservers/sql/engine"
	"agent-stop-and-go/mcpservers/sql/statement"

	driver "github.com/go-sql-driver/mysql"
)

// slack is the time that the server has to end a statement before its connection is closed.
const slack = 2 * time.Second

// on runs do on a connection with the limits of a call. A statement that does not end is killed,
// because the server would go on with it when the connection is closed.
func on(ctx context.Context, db *sql.DB, call engine.Call, do func(ctx context.Context, conn *sql.Conn) error) (err error) {
	outer := ctx
	ctx, cancel := context.WithTimeout(ctx, call.Limits.Timeout+slack)
	defer cancel()
	conn, err := db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connect: %w", explain(outer, err))
	}
	defer conn.Close()
	id, err := limit(ctx, conn, call.Limits.Timeout)
	if err != nil {
		return explain(outer, err)
	}
	err = do(ctx, conn)
	if ctx.Err() != nil {
		kill(db, id)
	}
	if class := call.Facts.Class; class != statement.Read && class != statement.Write && class != "" {
		_ = conn.Raw(func(any) error { return sqldriver.ErrBadConn }) // it is not used again
	}
	return explain(outer, err)
}

// limit sets the timeouts of a connection and returns its ID. MySQL and MariaDB name them
// differently.
func limit(ctx context.Context, conn *sql.Conn, timeout time.Duration) (id int64, err error) {
	var version string
	if err := conn.QueryRowContext(ctx, `SELECT connection_id(), version()`).Scan(&id, &version); err != nil {
		return 0, err
	}
	seconds := max(int(timeout.Seconds()), 1)
	text := fmt.Sprintf(`SET SESSION innodb_lock_wait_timeout = %d, lock_wait_timeout = %d, max_execution_time = %d`, seconds, seconds, max(timeout.Milliseconds(), 1))
	if strings.Contains(version, "MariaDB") {
		text = fmt.Sprintf(`SET SESSION innodb_lock_wait_timeout = %d, lock_wait_timeout = %d, max_statement_time = %f`, seconds, seconds, timeout.Seconds())
	}
	_, err = conn.ExecContext(ctx, text)
	return id, err
}

func kill(db *sql.DB, id int64) {
	ctx, cancel := context.WithTimeout(context.Background(), slack)
	defer cancel()
	_, _ = db.ExecContext(ctx, fmt.Sprintf(`KILL %d`, id))
}

// Read implements engine.Engine. The transaction is READ ONLY and is rolled back.
func (e *Engine) Read(ctx context.Context, call engine.Call) (table *engine.Table, err error) {
	err = on(ctx, e.reads, call, func(ctx context.Context, conn *sql.Conn) error {
		tx, err := conn.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
		if err != nil {
			return fmt.Errorf("begin: %w", err)
		}
		defer tx.Rollback()
		table, err = query(ctx, tx, call, true)
		return err
	})
	return table, err
}

type queryer interface {
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
	ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error)
}

// query runs a statement and collects its rows. If they are cut and stop is set, the connection is
// closed, because it would receive the others otherwise. Without stop everything is read, also the
// further results of a procedure, because one of them can be an error.
func query(ctx context.Context, q queryer, call engine.Call, stop bool) (*engine.Table, error) {
	ctx, cut := context.WithCancel(ctx)
	defer cut()
	rows, err := q.QueryContext(ctx, call.Text, params(call.Params)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	columns := make([]string, len(types))
	for i, c := range types {
		columns[i] = c.Name()
	}
	table := engine.NewTable(columns, call.Limits)
	for rows.Next() {
		row, err := scan(rows, types)
		if err != nil {
			return nil, err
		}
		if !table.Add(row) && stop {
			cut()
			return table, nil
		}
	}
	for !stop && rows.NextResultSet() {
	}
	return table, rows.Err()
}

// scan reads a row. Without parameters every value comes as text, so the column's type decides.
func scan(rows *sql.Rows, types []*sql.ColumnType) ([]any, error) {
	row := make([]any, len(types))
	into := make([]any, len(types))
	for i := range row {
		into[i] = &row[i]
	}
	if err := rows.Scan(into...); err != nil {
		return nil, err
	}
	for i, v := range row {
		text, ok := v.([]byte)
		if !ok {
			continue
		}
		switch strings.TrimPrefix(types[i].DatabaseTypeName(), "UNSIGNED ") {
		case "TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT", "YEAR", "DECIMAL", "FLOAT", "DOUBLE":
			row[i] = string(text) // such as 0000, which is no number in JSON
			if json.Valid(text) {
				row[i] = json.Number(text)
			}
		default:
			row[i] = append([]byte(nil), text...)
		}
	}
	return row, nil
}

// params sends whole numbers as such, and other numbers as text, which the server converts.
func params(values []any) []any {
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = v
		if number, ok := v.(json.Number); ok {
			out[i] = number.String()
			if n, err := number.Int64(); err == nil {
				out[i] = n
			}
		}
	}
	return out
}

// Write implements engine.Engine. If the connection ends during the commit of a call with a key,
// the call is made again, which finds the key or finds that nothing was committed.
func (e *Engine) Write(ctx context.Context, call engine.Call) (engine.Result, error) {
	switch {
	case e.writes == nil:
		return engine.Result{}, errReadOnly
	case !e.config.Keys || call.Key.Key == "":
		return e.change(ctx, call, true)
	}
	transactional, err := e.transactional(ctx, call)
	if err != nil {
		return engine.Result{}, err
	}
	if !transactional {
		return e.marked(ctx, call)
	}
	result, err := e.once(ctx, call)
	if errors.Is(err, engine.ErrUnknown) && ctx.Err() == nil {
		return e.once(ctx, call)
	}
	return result, err
}

// DryRun implements engine.Engine. Tables without transactions are refused.
func (e *Engine) DryRun(ctx context.Context, call engine.Call) (engine.Result, error) {
	if e.writes == nil {
		return engine.Result{}, errReadOnly
	}
	transactional, err := e.transactional(ctx, call)
	if err != nil {
		return engine.Result{}, err
	}
	if !transactional {
		return engine.Result{}, errors.New("a table of the statement has no transactions, so it cannot be rolled back")
	}
	return e.change(ctx, call, false)
}

// change runs a statement in one transaction. If it does not end, or the connection does, nothing
// is known of one that commits by itself or changes a table without transactions.
func (e *Engine) change(ctx context.Context, call engine.Call, commit bool) (result engine.Result, err error) {
	sent := false
	err = on(ctx, e.writes, call, func(ctx context.Context, conn *sql.Conn) error {
		tx, err := conn.BeginTx(ctx, nil)
		if err != nil {
			return fmt.Errorf("begin: %w", err)
		}
		defer tx.Rollback()
		sent = true
		if result, err = effect(ctx, tx, call); err != nil || !commit {
			return err
		}
		return commitErr(tx.Commit())
	})
	if sent && commit {
		err = e.ended(ctx, call, err)
	}
	return result, err
}

// effect runs a statement; one that begins like a query may return rows.
func effect(ctx context.Context, q queryer, call engine.Call) (engine.Result, error) {
	switch first, _, _ := strings.Cut(call.Facts.Normalized, " "); first {
	case "select", "call", "show", "explain", "describe":
		table, err := query(ctx, q, call, false)
		return engine.Result{Returned: table}, err
	}
	done, err := q.ExecContext(ctx, call.Text, params(call.Params)...)
	if err != nil {
		return engine.Result{}, err
	}
	n, err := done.RowsAffected()
	return engine.Result{RowsAffected: n}, err
}

// commitErr says of a commit without an answer that nothing is known. One whose context had ended
// was not sent.
func commitErr(err error) error {
	if err == nil || errors.As(err, new(*driver.MySQLError)) || errors.Is(err, sql.ErrTxDone) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("%w: the connection ended during the commit: %w", engine.ErrUnknown, err)
}

// Explain implements engine.Engine. It asks with the user that writes for statements that change
// something.
func (e *Engine) Explain(ctx context.Context, call engine.Call) (engine.Plan, error) {
	plan := plan{engine.Plan{Lines: []string{}, Rows: -1}}
	db := e.reads
	if call.Facts.Class != statement.Read && e.writes != nil {
		db = e.writes
	}
	call.Text = "EXPLAIN " + call.Text
	err := on(ctx, db, call, func(ctx context.Context, conn *sql.Conn) error {
		tx, err := conn.BeginTx(ctx, &sql.TxOptions{ReadOnly: call.Facts.Class == statement.Read})
		if err != nil {
			return fmt.Errorf("begin: %w", err)
		}
		defer tx.Rollback()
		table, err := query(ctx, tx, call, true)
		if err != nil {
			return err
		}
		for _, row := range table.Rows {
			plan.add(table.Columns, row)
		}
		return nil
	})
	return plan.Plan, err
}

// plan reads rows of EXPLAIN: id, select_type, table, type, possible_keys, key, …, rows, …, Extra.
type plan struct{ engine.Plan }

func (p *plan) add(columns []string, row []any) {
	var words []string
	for i, v := range row {
		name := strings.ToLower(columns[i])
		switch {
		case v == nil:
		case name == "rows":
			if rows, err := strconv.ParseFloat(fmt.Sprint(v), 64); err == nil { // MariaDB sends text
				p.Rows = max(p.Rows, rows)
			}
			fallthrough
		case name == "select_type" || name == "table" || name == "type" || name == "key" || name == "extra":
			words = append(words, fmt.Sprintf("%s %v", name, v))
		}
	}
	p.Lines = append(p.Lines, strings.Join(words, ", "))
}
