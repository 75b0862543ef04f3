package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"strings"
)

// maxStatements is more than the server has, but for lists, which may differ every time.
const maxStatements = 250

// driverConn is what the connections of both drivers can do.
type driverConn interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ConnBeginTx
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
}

// conn keeps the statements that it has prepared.
type conn struct {
	driverConn
	statements map[string]driver.Stmt // that are not in use
}

var (
	_ driver.SessionResetter = (*conn)(nil)
	_ driver.Validator       = (*conn)(nil)
)

// ExecContext implements driver.ExecerContext.
func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	ctx = context.WithoutCancel(ctx)
	if isScript(query) {
		return c.driverConn.ExecContext(ctx, query, args)
	}
	s, err := c.take(ctx, query)
	if err != nil {
		return nil, err
	}
	result, err := s.(driver.StmtExecContext).ExecContext(ctx, args)
	if err != nil {
		_ = s.Close() // it would say the same
		return nil, err
	}
	c.keep(query, s)
	return result, nil
}

// QueryContext implements driver.QueryerContext.
func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	ctx = context.WithoutCancel(ctx)
	if isScript(query) {
		return c.driverConn.QueryContext(ctx, query, args)
	}
	s, err := c.take(ctx, query)
	if err != nil {
		return nil, err
	}
	r, err := s.(driver.StmtQueryContext).QueryContext(ctx, args)
	if err != nil {
		_ = s.Close() // it would say the same
		return nil, err
	}
	return &rows{Rows: r, conn: c, query: query, statement: s}, nil
}

// isScript reports whether a query may be several statements, which cannot be prepared together.
func isScript(query string) bool { return strings.Contains(query, ";") }

// take returns a statement that nobody else uses.
func (c *conn) take(ctx context.Context, query string) (driver.Stmt, error) {
	if s, ok := c.statements[query]; ok {
		delete(c.statements, query)
		return s, nil
	}
	return c.PrepareContext(ctx, query)
}

// keep takes a statement back that has done its work.
func (c *conn) keep(query string, s driver.Stmt) {
	if c.statements[query] != nil { // two were in use
		_ = s.Close()
		return
	}
	if len(c.statements) == maxStatements {
		_ = c.drop()
	}
	c.statements[query] = s
}

func (c *conn) drop() error {
	var errs []error
	for _, s := range c.statements {
		errs = append(errs, s.Close())
	}
	clear(c.statements)
	return errors.Join(errs...)
}

// Close implements driver.Conn.
func (c *conn) Close() error { return errors.Join(c.drop(), c.driverConn.Close()) }

// ResetSession implements driver.SessionResetter.
func (c *conn) ResetSession(ctx context.Context) error {
	if r, ok := c.driverConn.(driver.SessionResetter); ok {
		return r.ResetSession(ctx)
	}
	return nil
}

// IsValid implements driver.Validator.
func (c *conn) IsValid() bool {
	v, ok := c.driverConn.(driver.Validator)
	return !ok || v.IsValid()
}

// rows give their statement back when they are closed.
type rows struct {
	driver.Rows
	conn      *conn
	query     string
	statement driver.Stmt // nil once it is given back
	failed    bool
}

// Next implements driver.Rows.
func (r *rows) Next(dest []driver.Value) error {
	err := r.Rows.Next(dest)
	r.failed = r.failed || err != nil && !errors.Is(err, io.EOF)
	return err
}

// Close implements driver.Rows.
func (r *rows) Close() error {
	s := r.statement
	if s == nil {
		return nil
	}
	r.statement = nil
	err := r.Rows.Close()
	if err != nil || r.failed {
		_ = s.Close()
		return err
	}
	r.conn.keep(r.query, s)
	return nil
}
