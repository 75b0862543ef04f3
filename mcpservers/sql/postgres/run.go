package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"agent-stop-and-go/mcpservers/sql/engine"
	"agent-stop-and-go/mcpservers/sql/statement"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// slack is the time that the server has to end a statement before its connection is closed.
const slack = 2 * time.Second

// within runs do in a transaction with the limits of a call, and commits it if do says so.
func within(ctx context.Context, p *pgxpool.Pool, call engine.Call, mode pgx.TxAccessMode, do func(ctx context.Context, tx pgx.Tx) (commit bool, err error)) (err error) {
	outer := ctx
	ctx, cancel := context.WithTimeout(ctx, call.Limits.Timeout+slack)
	defer cancel()
	defer func() { err = explain(outer, err) }()
	conn, err := p.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer conn.Release()
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{AccessMode: mode})
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer end(conn, tx, call.Facts.Class)
	ms := strconv.FormatInt(max(call.Limits.Timeout.Milliseconds(), 1), 10)
	// It is a query, after which the transaction can no longer be made to write.
	if _, err := tx.Exec(ctx, `SELECT set_config('statement_timeout', $1, true), set_config('lock_timeout', $1, true),
		set_config('idle_in_transaction_session_timeout', '60s', true)`, ms); err != nil {
		return err
	}
	commit, err := do(ctx, tx)
	if err != nil || !commit {
		return err
	}
	ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), slack) // a caller that goes away leaves no doubt
	defer cancel()
	return commitErr(tx.Commit(ctx))
}

// end rolls back what is not committed. A connection on which a statement of unknown effects ran
// is not used again.
func end(conn *pgxpool.Conn, tx pgx.Tx, class statement.Class) {
	ctx, cancel := context.WithTimeout(context.Background(), slack)
	defer cancel()
	_ = tx.Rollback(ctx)
	if class != statement.Read && class != statement.Write {
		_ = conn.Conn().Close(ctx)
	}
}

// commitErr says of a commit without an answer that nothing is known.
func commitErr(err error) error {
	if err == nil || errors.As(err, new(*pgconn.PgError)) || errors.Is(err, pgx.ErrTxCommitRollback) {
		return err
	}
	return fmt.Errorf("%w: the connection ended during the commit: %w", engine.ErrUnknown, err)
}

// Read implements engine.Engine. The transaction is READ ONLY and is rolled back.
func (e *Engine) Read(ctx context.Context, call engine.Call) (table *engine.Table, err error) {
	err = within(ctx, e.reads, call, pgx.ReadOnly, func(ctx context.Context, tx pgx.Tx) (bool, error) {
		table, _, err = run(ctx, tx, call, true)
		return false, err
	})
	return table, err
}

// run runs a statement and collects its rows. If they are cut and stop is set, the connection is
// closed, because it would receive the others otherwise.
func run(ctx context.Context, tx pgx.Tx, call engine.Call, stop bool) (*engine.Table, pgconn.CommandTag, error) {
	rows, err := tx.Query(ctx, call.Text, params(call.Params)...)
	if err != nil {
		return nil, pgconn.CommandTag{}, err
	}
	defer rows.Close()
	fields := rows.FieldDescriptions()
	columns := make([]string, len(fields))
	for i, field := range fields {
		columns[i] = field.Name
	}
	table := engine.NewTable(columns, call.Limits)
	for rows.Next() {
		row, err := values(rows, fields)
		if err != nil {
			return nil, pgconn.CommandTag{}, err
		}
		if !table.Add(row) && stop {
			closed, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			_ = tx.Conn().PgConn().CancelRequest(closed)
			_ = tx.Conn().Close(closed)
			return table, pgconn.CommandTag{}, nil
		}
	}
	rows.Close()
	return table, rows.CommandTag(), rows.Err()
}

// params sends numbers as text, which fits every type.
func params(values []any) []any {
	out := make([]any, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case json.Number:
			out[i] = v.String()
		case bool:
			out[i] = strconv.FormatBool(v)
		default:
			out[i] = v
		}
	}
	return out
}

// values decodes a row: numbers and booleans as such, all other types as PostgreSQL writes them.
func values(rows pgx.Rows, fields []pgconn.FieldDescription) ([]any, error) {
	raw := rows.RawValues()
	out := make([]any, len(raw))
	types := rows.Conn().TypeMap()
	for i, bytes := range raw {
		if bytes == nil {
			continue
		}
		if fields[i].Format == pgx.TextFormatCode {
			out[i] = string(bytes)
			continue
		}
		kind, ok := types.TypeForOID(fields[i].DataTypeOID)
		if !ok {
			out[i] = append([]byte(nil), bytes...)
			continue
		}
		v, err := kind.Codec.DecodeDatabaseSQLValue(types, fields[i].DataTypeOID, fields[i].Format, bytes)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", fields[i].Name, err)
		}
		if text, ok := v.(string); ok && kind.Name == "numeric" {
			v = json.Number(text)
			if strings.ContainsAny(text, "NI") { // NaN, Infinity
				v = text
			}
		}
		out[i] = v
	}
	return out, nil
}

// Write implements engine.Engine. If the connection ends during the commit of a call with a key,
// the call is made again, which finds the key or finds that nothing was committed.
func (e *Engine) Write(ctx context.Context, call engine.Call) (engine.Result, error) {
	if e.writes == nil {
		return engine.Result{}, errReadOnly
	}
	if !e.config.Keys || call.Key.Key == "" {
		return e.change(ctx, call, true)
	}
	result, err := e.once(ctx, call)
	if errors.Is(err, engine.ErrUnknown) && ctx.Err() == nil {
		return e.once(ctx, call)
	}
	return result, err
}

// DryRun implements engine.Engine.
func (e *Engine) DryRun(ctx context.Context, call engine.Call) (engine.Result, error) {
	if e.writes == nil {
		return engine.Result{}, errReadOnly
	}
	return e.change(ctx, call, false)
}

func (e *Engine) change(ctx context.Context, call engine.Call, commit bool) (result engine.Result, err error) {
	err = within(ctx, e.writes, call, pgx.ReadWrite, func(ctx context.Context, tx pgx.Tx) (bool, error) {
		result, err = effect(ctx, tx, call)
		return commit, err
	})
	return result, err
}

func effect(ctx context.Context, tx pgx.Tx, call engine.Call) (engine.Result, error) {
	table, tag, err := run(ctx, tx, call, false)
	if err != nil {
		return engine.Result{}, err
	}
	result := engine.Result{RowsAffected: tag.RowsAffected()}
	if len(table.Columns) > 0 {
		result.Returned = table
	}
	return result, nil
}

// Explain implements engine.Engine. It asks with the role that writes for statements that change
// something, in a transaction that cannot.
func (e *Engine) Explain(ctx context.Context, call engine.Call) (plan engine.Plan, err error) {
	p := e.reads
	if call.Facts.Class != statement.Read && e.writes != nil {
		p = e.writes
	}
	call.Text = "EXPLAIN (FORMAT JSON) " + call.Text
	err = within(ctx, p, call, pgx.ReadOnly, func(ctx context.Context, tx pgx.Tx) (bool, error) {
		var text string
		if err := tx.QueryRow(ctx, call.Text, params(call.Params)...).Scan(&text); err != nil {
			return false, err
		}
		plan, err = readPlan(text)
		return false, err
	})
	return plan, err
}

// step is a node of EXPLAIN (FORMAT JSON).
type step struct {
	Type     string  `json:"Node Type"`
	Op       string  `json:"Operation"`
	Relation string  `json:"Relation Name"`
	Index    string  `json:"Index Name"`
	Rows     float64 `json:"Plan Rows"`
	Cost     float64 `json:"Total Cost"`
	Plans    []step  `json:"Plans"`
}

func readPlan(text string) (engine.Plan, error) {
	plan := engine.Plan{Lines: []string{}, Rows: -1}
	var roots []struct{ Plan step }
	if err := json.Unmarshal([]byte(text), &roots); err != nil {
		return plan, fmt.Errorf("read the plan: %w", err)
	}
	for _, root := range roots {
		plan.Rows = root.Plan.Rows
		if root.Plan.Type == "ModifyTable" && len(root.Plan.Plans) > 0 {
			plan.Rows = root.Plan.Plans[0].Rows
		}
		root.Plan.lines(0, &plan.Lines)
	}
	return plan, nil
}

func (s step) lines(depth int, out *[]string) {
	line := strings.Repeat("  ", depth) + s.Type
	if s.Op != "" {
		line = strings.Repeat("  ", depth) + s.Op
	}
	if s.Relation != "" {
		line += " on " + s.Relation
	}
	if s.Index != "" {
		line += " using " + s.Index
	}
	*out = append(*out, fmt.Sprintf("%s (cost %.2f, rows %.0f)", line, s.Cost, s.Rows))
	for _, each := range s.Plans {
		each.lines(depth+1, out)
	}
}
