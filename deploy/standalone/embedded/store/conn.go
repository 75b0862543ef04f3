package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"strings"
)

// maxStatements exceeds the number of the server's statements, except lists, which may differ
// every time.
const maxStatements = 250

// driverConn has the methods that the connections of both drivers share.
type driverConn interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ConnBeginTx
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
}

// conn caches prepared statements.
type conn struct {
	driverConn
	statements map[string]driver.Stmt // only statements that are not in use
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
		_ = s.Close() // it would return the same error
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
		_ = s.Close() // it would return the same error
		return nil, err
	}
	return &rows{Rows: r, conn: c, query: query, statement: s}, nil
}

// isScript reports whether a query may consist of several statements, which cannot be prepared
// together.
func isScript(query string) bool { return strings.Contains(query, ";") }

// take removes a prepared statement from the cache, or prepares one.
func (c *conn) take(ctx context.Context, query string) (driver.Stmt, error) {
	if s, ok := c.statements[query]; ok {
		delete(c.statements, query)
		return s, nil
	}
	return c.PrepareContext(ctx, query)
}

// keep returns a statement to the cache after use.
func (c *conn) keep(query string, s driver.Stmt) {
	if c.statements[query] != nil { // two of them were in use
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

// rows return their statement to the cache on Close.
type rows struct {
	driver.Rows
	conn      *conn
	query     string
	statement driver.Stmt // nil after Close
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
