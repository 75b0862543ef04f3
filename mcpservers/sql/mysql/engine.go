package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log"
	"strings"
	"sync/atomic"
	"time"

	"agent-stop-and-go/mcpservers/sql/engine"
	"agent-stop-and-go/mcpservers/sql/statement"

	driver "github.com/go-sql-driver/mysql"
)

// Engine is one database of MySQL or MariaDB, with a user that reads and one that writes.
type Engine struct {
	reads, writes *sql.DB
	config        Config
	keysReady     atomic.Bool
	prune         engine.Hourly
}

// Config says where the database is, and what is permitted. ReadDSN and WriteDSN are data source
// names of go-sql-driver/mysql; without WriteDSN every change is refused.
type Config struct {
	ReadDSN, WriteDSN string
	Functions         []string // that are harmless, too
	Keys              bool     // store idempotency keys in the table [engine.KeyTable]
	Timeout           time.Duration
	Connections       int // of each user at the same time
}

// maxMessage bounds one row, in bytes.
const maxMessage = 16 << 20

// Open prepares the pools. It does not connect, so that a server starts before its database.
func Open(_ context.Context, config Config) (*Engine, error) {
	e := &Engine{config: config}
	var err error
	if e.reads, err = pool(config.ReadDSN, config); err != nil {
		return nil, err
	}
	if config.WriteDSN != "" {
		if e.writes, err = pool(config.WriteDSN, config); err != nil {
			return nil, errors.Join(err, e.reads.Close())
		}
	}
	return e, nil
}

// pool does not report the data source name, which may have a password.
func pool(dsn string, config Config) (*sql.DB, error) {
	c, err := driver.ParseDSN(dsn)
	if err != nil {
		return nil, errors.New("the data source name of the database is not understood; it is USER:PASSWORD@tcp(HOST:PORT)/DATABASE")
	}
	if c.DBName == "" {
		return nil, errors.New("the data source name has no database")
	}
	c.MultiStatements, c.InterpolateParams, c.AllowAllFiles, c.ParseTime = false, false, false, false
	c.AllowOldPasswords, c.ClientFoundRows = false, false
	c.MaxAllowedPacket = maxMessage
	c.Timeout = config.Timeout
	c.Logger = log.New(io.Discard, "", 0)
	if c.Params == nil {
		c.Params = map[string]string{}
	}
	// As the parser reads a text.
	c.Params["sql_mode"] = "'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'"
	if err := c.Apply(driver.Charset("utf8mb4", "utf8mb4_general_ci")); err != nil {
		return nil, err
	}
	connector, err := driver.NewConnector(c)
	if err != nil {
		return nil, fmt.Errorf("set up the connections: %w", err)
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(max(config.Connections, 1))
	db.SetConnMaxIdleTime(5 * time.Minute)
	return db, nil
}

// Close implements engine.Engine.
func (e *Engine) Close() error {
	err := e.reads.Close()
	if e.writes != nil {
		err = errors.Join(err, e.writes.Close())
	}
	return err
}

// Classify implements engine.Engine.
func (e *Engine) Classify(_ context.Context, text string) (statement.Facts, error) {
	return Classify(text, e.config.Functions...)
}

var errReadOnly = errors.New("the database is configured for reading only")

// Numbers of errors of the servers.
const (
	errReadOnlyTransaction = 1792
	errLockWaitTimeout     = 1205
	errDeadlock            = 1213
	errQueryInterrupted    = 1317
	errStatementTimeout    = 1969 // MariaDB
	errQueryTimeout        = 3024 // MySQL
)

// failure is an error of the server with its text for people.
type failure struct {
	text string
	err  error
}

func (f failure) Error() string { return f.text }
func (f failure) Unwrap() error { return f.err }

// explain makes an error of the database readable, and tells a timeout.
func explain(ctx context.Context, err error) error {
	answer := new(driver.MySQLError)
	switch {
	case err == nil || errors.Is(err, engine.ErrUnknown) || errors.As(err, new(failure)):
		return err
	case errors.As(err, &answer):
		text := fmt.Sprintf("%s (error %d)", strings.TrimSpace(answer.Message), answer.Number)
		switch answer.Number {
		case errLockWaitTimeout, errQueryInterrupted, errStatementTimeout, errQueryTimeout:
			return fmt.Errorf("%w: %s", context.DeadlineExceeded, text)
		case errReadOnlyTransaction:
			return fmt.Errorf("%w: %s", engine.ErrChanges, text)
		}
		return failure{text, answer}
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return err
}
