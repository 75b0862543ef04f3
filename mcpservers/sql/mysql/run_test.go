package mysql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/mcpservers/hosting"
	"agent-stop-and-go/mcpservers/sql/engine"
	"agent-stop-and-go/mcpservers/sql/statement"

	mysqldriver "github.com/go-sql-driver/mysql"
)

// script is a server that fails for statements that begin with a text, and notes what it is sent.
type script struct {
	fails  map[string]error
	engine string // of all tables
	rows   int    // of a query, besides those of the engine itself
	later  error  // of the result after the rows
	read   int    // rows that were fetched
}

func (s *script) Connect(context.Context) (driver.Conn, error) { return s, nil }
func (s *script) Driver() driver.Driver                        { return nil }
func (s *script) Prepare(string) (driver.Stmt, error)          { return nil, errors.New("not used") }
func (s *script) Close() error                                 { return nil }
func (s *script) Begin() (driver.Tx, error)                    { return s, nil }
func (s *script) Rollback() error                              { return nil }
func (s *script) Commit() error                                { return s.fail("COMMIT") }

func (s *script) fail(text string) error {
	for prefix, err := range s.fails {
		if strings.HasPrefix(text, prefix) {
			return err
		}
	}
	return nil
}

func (s *script) ExecContext(_ context.Context, text string, _ []driver.NamedValue) (driver.Result, error) {
	return driver.RowsAffected(1), s.fail(text)
}

func (s *script) QueryContext(_ context.Context, text string, _ []driver.NamedValue) (driver.Rows, error) {
	switch {
	case strings.HasPrefix(text, "SELECT connection_id()"):
		return &answer{columns: 2, row: []driver.Value{int64(7), "8.4.0"}, left: 1}, nil
	case strings.Contains(text, "information_schema"):
		return &answer{columns: 1, row: []driver.Value{s.engine}, left: 1}, nil
	}
	return &answer{columns: 1, row: []driver.Value{int64(1)}, left: s.rows, read: &s.read, later: s.later}, s.fail(text)
}

type answer struct {
	columns int
	row     []driver.Value
	left    int
	read    *int
	later   error
}

func (a *answer) Columns() []string      { return make([]string, a.columns) }
func (a *answer) Close() error           { return nil }
func (a *answer) HasNextResultSet() bool { return a.later != nil }
func (a *answer) NextResultSet() error   { return a.later }
func (a *answer) Next(into []driver.Value) error {
	if a.left == 0 {
		return io.EOF
	}
	a.left--
	if a.read != nil {
		*a.read++
	}
	copy(into, a.row)
	return nil
}

// write runs a statement on a scripted server, with a key if keys is set.
func (s *script) write(t *testing.T, text string, class statement.Class, keys bool) (engine.Result, error) {
	t.Helper()
	db := sql.OpenDB(s)
	t.Cleanup(func() { _ = db.Close() })
	e := &Engine{reads: db, writes: db, config: Config{Keys: keys}}
	return e.Write(t.Context(), engine.Call{
		Text: text, Key: hosting.CallKey{Key: "key"}, Limits: engine.Limits{Rows: 2, Bytes: 1000, Timeout: time.Minute},
		Facts: statement.Facts{Class: class, Writes: []string{"t"}, Normalized: strings.ToLower(text)},
	})
}

func TestWhatMayHaveRunIsUnknown(t *testing.T) {
	lost, refusedBy := mysqldriver.ErrInvalidConn, &mysqldriver.MySQLError{Number: 1050, Message: "exists"}
	killed := &mysqldriver.MySQLError{Number: errQueryInterrupted, Message: "interrupted"}
	for _, tt := range []struct {
		text    string
		class   statement.Class
		engine  string
		keys    bool
		where   string
		err     error
		unknown bool
	}{
		{"CREATE TABLE t (x int)", statement.Schema, "", true, "UPDATE mcp_sql_calls", lost, true},
		{"CREATE TABLE t (x int)", statement.Schema, "", true, "UPDATE mcp_sql_calls", context.DeadlineExceeded, true},
		{"CREATE TABLE t (x int)", statement.Schema, "", true, "UPDATE mcp_sql_calls", killed, true},
		{"CREATE TABLE t (x int)", statement.Schema, "", true, "UPDATE mcp_sql_calls", refusedBy, true},
		{"CREATE TABLE t (x int)", statement.Schema, "", true, "CREATE TABLE t ", refusedBy, false},
		{"DELETE FROM t", statement.Write, "innodb", true, "UPDATE mcp_sql_calls", context.DeadlineExceeded, false},
		{"CREATE TABLE t (x int)", statement.Schema, "", false, "CREATE TABLE t ", context.DeadlineExceeded, true},
		{"CREATE TABLE t (x int)", statement.Schema, "", false, "CREATE TABLE t ", context.Canceled, true},
		{"CREATE TABLE t (x int)", statement.Schema, "", false, "CREATE TABLE t ", lost, true},
		{"CREATE TABLE t (x int)", statement.Schema, "", false, "CREATE TABLE t ", killed, true},
		{"CREATE TABLE t (x int)", statement.Schema, "", false, "CREATE TABLE t ", refusedBy, false},
		{"CREATE TABLE t (x int)", statement.Schema, "", false, "COMMIT", context.DeadlineExceeded, true},
		{"CREATE TABLE t (x int)", statement.Schema, "", false, "SET SESSION", lost, false},
		{"DELETE FROM t", statement.Write, "myisam", false, "DELETE", context.DeadlineExceeded, true},
		{"DELETE FROM t", statement.Write, "innodb", false, "DELETE", context.DeadlineExceeded, false},
	} {
		s := &script{fails: map[string]error{tt.where: tt.err}, engine: tt.engine}
		_, err := s.write(t, tt.text, tt.class, tt.keys)
		if err == nil || errors.Is(err, engine.ErrUnknown) != tt.unknown {
			t.Errorf("%s (%s, keys %v), and %v of %q: %v", tt.text, tt.engine, tt.keys, tt.err, tt.where, err)
		}
	}
}

func TestAChangeIsReadToItsEnd(t *testing.T) {
	for _, keys := range []bool{true, false} {
		s := &script{rows: 9, engine: "innodb"}
		result, err := s.write(t, "SELECT x FROM t FOR UPDATE", statement.Write, keys)
		if err != nil || s.read != 9 || result.Returned.RowCount != 2 || !result.Returned.Truncated {
			t.Errorf("keys %v: read %d rows of 9, %+v, %v", keys, s.read, result.Returned, err)
		}
		s = &script{rows: 1, later: fmt.Errorf("the second result: %w", mysqldriver.ErrInvalidConn)}
		if _, err = s.write(t, "CALL p()", statement.Unsafe, keys); !errors.Is(err, engine.ErrUnknown) {
			t.Errorf("keys %v: a procedure that failed after its first result: %v", keys, err)
		}
	}
}
