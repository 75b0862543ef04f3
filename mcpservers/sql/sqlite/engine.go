package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"agent-stop-and-go/mcpservers/sql/engine"

	"github.com/ncruces/go-sqlite3"
)

// Engine is one SQLite file.
type Engine struct {
	path    string
	writes  bool
	keys    bool
	timeout time.Duration
	prune   engine.Hourly
}

// Config says which file, and what is permitted.
type Config struct {
	Path    string
	Write   bool // without it every change is refused
	Create  bool // make a file that is missing, and its folder
	Keys    bool // store idempotency keys in the table [engine.KeyTable]
	Timeout time.Duration
}

// Open checks that the file is a database. Without Create it must exist, because a new one at a
// misspelled path would be empty.
func Open(ctx context.Context, config Config) (*Engine, error) {
	path, err := filepath.Abs(config.Path)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && config.Create {
		if err := create(path); err != nil {
			return nil, fmt.Errorf("create the SQLite file: %w", err)
		}
	} else if err != nil {
		return nil, fmt.Errorf("open the SQLite file: %w", err)
	}
	e := &Engine{path: path, writes: config.Write, keys: config.Keys && config.Write, timeout: config.Timeout}
	db, end, err := e.open(ctx, true, config.Timeout)
	if err != nil {
		return nil, err
	}
	defer end()
	if err := db.Exec("SELECT count(*) FROM sqlite_schema"); err != nil {
		return nil, fmt.Errorf("open the SQLite file %s: %w", config.Path, err)
	}
	return e, nil
}

// create makes an empty file, which SQLite takes for an empty database.
func create(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	return file.Close()
}

// Close implements engine.Engine.
func (e *Engine) Close() error { return nil }

// maxLength bounds a string, a blob and a row, in bytes.
const maxLength = 16 << 20

// open returns a connection that is interrupted when ctx or the timeout ends. The caller calls
// end.
func (e *Engine) open(ctx context.Context, readOnly bool, timeout time.Duration) (db *sqlite3.Conn, end func(), err error) {
	flags := sqlite3.OPEN_READWRITE | sqlite3.OPEN_URI
	if readOnly {
		flags = sqlite3.OPEN_READONLY | sqlite3.OPEN_URI
	} else if !e.writes {
		return nil, nil, errors.New("the database is configured for reading only")
	}
	name := url.URL{Scheme: "file", OmitHost: true, Path: e.path}
	db, err = sqlite3.OpenFlags(name.String(), flags)
	if err != nil {
		return nil, nil, fmt.Errorf("open the SQLite file: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	end = func() {
		cancel()
		_ = db.Close()
	}
	db.SetInterrupt(ctx)
	db.Limit(sqlite3.LIMIT_LENGTH, maxLength)
	db.Limit(sqlite3.LIMIT_ATTACHED, 0)
	err = errors.Join(protect(db), db.BusyTimeout(timeout), db.Exec("PRAGMA foreign_keys = on"))
	if err == nil && readOnly {
		err = db.Exec("PRAGMA query_only = on")
	}
	if err != nil {
		end()
		return nil, nil, fmt.Errorf("set up the connection: %w", err)
	}
	return db, end, nil
}

// protect takes from SQL what reaches out of the file or below its tables.
func protect(db *sqlite3.Conn) error {
	_, defensive := db.Config(sqlite3.DBCONFIG_DEFENSIVE, true)
	_, trusted := db.Config(sqlite3.DBCONFIG_TRUSTED_SCHEMA, false)
	return errors.Join(defensive, trusted)
}

// readsOnly is an authorizer that permits what a read needs. It is asked again when a statement
// is compiled again.
func readsOnly(action sqlite3.AuthorizerActionCode, third, fourth, schema, inner string) sqlite3.AuthorizerReturnCode {
	var w watcher
	if w.ask(action, third, fourth, schema, inner); w.named || len(w.Facts("").Functions) > 0 {
		return sqlite3.AUTH_DENY
	}
	return sqlite3.AUTH_OK
}

// explain turns an interruption into the error that ended it.
func explain(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sqlite3.INTERRUPT) && ctx.Err() == nil:
		return context.DeadlineExceeded
	case errors.Is(err, sqlite3.INTERRUPT):
		return ctx.Err()
	case errors.Is(err, sqlite3.AUTH):
		return fmt.Errorf("%w: %s", engine.ErrChanges, strings.TrimPrefix(err.Error(), "sqlite3: "))
	}
	return err
}
