package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"agent-stop-and-go/mcpservers/sql/engine"
	"agent-stop-and-go/mcpservers/sql/statement"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Engine is one PostgreSQL database, with a role that reads and one that writes.
type Engine struct {
	reads, writes *pgxpool.Pool
	config        Config
	keysReady     atomic.Bool
	prune         engine.Hourly
}

// Config says where the database is, and what is permitted. ReadURL and WriteURL are connection
// strings of libpq; without WriteURL every change is refused.
type Config struct {
	ReadURL, WriteURL string
	Functions         []string // that are harmless, too
	Keys              bool     // store idempotency keys in the table [engine.KeyTable]
	Timeout           time.Duration
	Connections       int // of each role at the same time
}

// maxMessage bounds one row, in bytes.
const maxMessage = 16 << 20

// Open prepares the pools. It does not connect, so that a server starts before its database.
func Open(ctx context.Context, config Config) (*Engine, error) {
	e := &Engine{config: config}
	var err error
	if e.reads, err = pool(ctx, config.ReadURL, config); err != nil {
		return nil, err
	}
	if config.WriteURL != "" {
		if e.writes, err = pool(ctx, config.WriteURL, config); err != nil {
			e.reads.Close()
			return nil, err
		}
	}
	go Warm()
	return e, nil
}

// pool does not report the connection string, which may have a password.
func pool(ctx context.Context, url string, config Config) (*pgxpool.Pool, error) {
	c, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, errors.New("the connection string of the database is not understood")
	}
	c.MaxConns = int32(max(config.Connections, 1))
	c.MaxConnIdleTime = 5 * time.Minute
	// Nothing is remembered of a statement, whose tables may change; one statement per message.
	c.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeDescribeExec
	c.ConnConfig.ConnectTimeout = config.Timeout
	c.ConnConfig.BuildFrontend = buildFrontend
	params := c.ConnConfig.RuntimeParams
	params["application_name"] = "mcp-sql"
	params["standard_conforming_strings"] = "on" // as the parser reads strings
	params["client_encoding"] = "UTF8"
	p, err := pgxpool.NewWithConfig(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("set up the connections: %w", err)
	}
	return p, nil
}

func buildFrontend(r io.Reader, w io.Writer) *pgproto3.Frontend {
	f := pgproto3.NewFrontend(r, w)
	f.SetMaxBodyLen(maxMessage)
	return f
}

var _ pgconn.BuildFrontendFunc = buildFrontend

// Close implements engine.Engine.
func (e *Engine) Close() error {
	e.reads.Close()
	if e.writes != nil {
		e.writes.Close()
	}
	return nil
}

// Classify implements engine.Engine.
func (e *Engine) Classify(_ context.Context, text string) (statement.Facts, error) {
	return Classify(text, e.config.Functions...)
}

var errReadOnly = errors.New("the database is configured for reading only")

// explain makes an error of the database readable, and tells a timeout.
func explain(ctx context.Context, err error) error {
	pgErr := new(pgconn.PgError)
	switch {
	case err == nil || errors.Is(err, engine.ErrUnknown):
		return err
	case errors.As(err, &pgErr):
		text := fmt.Sprintf("%s (SQLSTATE %s)", pgErr.Message, pgErr.Code)
		if pgErr.Hint != "" {
			text += "; " + pgErr.Hint
		}
		switch pgErr.Code {
		case "57014", "55P03":
			return fmt.Errorf("%w: %s", context.DeadlineExceeded, text)
		case "25006":
			return fmt.Errorf("%w: %s", engine.ErrChanges, text)
		}
		return errors.New(text)
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return err
}
