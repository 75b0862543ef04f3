package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"agent-stop-and-go/mcpservers/sql/engine"
	"agent-stop-and-go/mcpservers/sql/statement"

	driver "github.com/go-sql-driver/mysql"
)

const createKeys = `CREATE TABLE IF NOT EXISTS ` + engine.KeyTable + ` (
	call_key VARBINARY(1024) NOT NULL PRIMARY KEY, args_sha256 CHAR(64) NOT NULL, state VARCHAR(16) NOT NULL, result LONGTEXT NOT NULL,
	created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP) ENGINE = InnoDB CHARACTER SET utf8mb4`

const (
	// It locks an existing row for writing; with INSERT IGNORE two that wait would deadlock.
	claim  = `INSERT INTO ` + engine.KeyTable + ` (call_key, args_sha256, state, result) VALUES (?, ?, ?, '') ON DUPLICATE KEY UPDATE call_key = call_key`
	finish = `UPDATE ` + engine.KeyTable + ` SET state = ?, result = ? WHERE call_key = ?`
	forget = `DELETE FROM ` + engine.KeyTable + ` WHERE call_key = ?`
	expire = `DELETE FROM ` + engine.KeyTable + ` WHERE created_at < FROM_UNIXTIME(?)`
	// FOR UPDATE reads what was committed last, and not what it was when the transaction began.
	look = `SELECT args_sha256, state, result FROM ` + engine.KeyTable + ` WHERE call_key = ? FOR UPDATE`
)

// once runs a call with a key in one transaction with the key. The key is inserted first: another
// call with the same key waits there until this one has ended.
func (e *Engine) once(ctx context.Context, call engine.Call) (result engine.Result, err error) {
	if err := e.ensureKeys(ctx, call); err != nil {
		return result, err
	}
	for range deadlocks {
		result, err = e.tryOnce(ctx, call)
		if answer := new(driver.MySQLError); !errors.As(err, &answer) || answer.Number != errDeadlock {
			break
		}
	}
	return result, err
}

// deadlocks is how often a transaction is made again that the server rolled back whole, because it
// and another waited for each other.
const deadlocks = 3

func (e *Engine) tryOnce(ctx context.Context, call engine.Call) (result engine.Result, err error) {
	err = on(ctx, e.writes, call, func(ctx context.Context, conn *sql.Conn) error {
		tx, err := conn.BeginTx(ctx, nil)
		if err != nil {
			return fmt.Errorf("begin: %w", err)
		}
		defer tx.Rollback()
		seen, err := claimed(ctx, tx, call, &result)
		if seen || err != nil {
			return err
		}
		if result, err = effect(ctx, tx, call); err != nil {
			return err
		}
		if err := finished(ctx, tx, call, result); err != nil {
			return err
		}
		if e.prune.Due() {
			if _, err := tx.ExecContext(ctx, expire, engine.Expired().Unix()); err != nil {
				return err
			}
		}
		return commitErr(tx.Commit())
	})
	return result, err
}

// claimed inserts the key, or reads the result of an earlier call.
func claimed(ctx context.Context, q querier, call engine.Call, result *engine.Result) (seen bool, err error) {
	inserted, err := q.ExecContext(ctx, claim, call.Key.Key, call.Key.ArgsSHA256, engine.Started)
	if err != nil {
		return false, err
	}
	if n, err := inserted.RowsAffected(); err != nil || n == 1 {
		return false, err
	}
	var stored engine.Stored
	if err := q.QueryRowContext(ctx, look, call.Key.Key).Scan(&stored.ArgsSHA256, &stored.State, &stored.Result); err != nil {
		return true, err
	}
	*result, err = stored.Match(call.Key)
	return true, err
}

type querier interface {
	queryer
	QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row
}

func finished(ctx context.Context, q queryer, call engine.Call, result engine.Result) error {
	text, err := result.Encode()
	if err != nil {
		return err
	}
	_, err = q.ExecContext(ctx, finish, engine.Done, text, call.Key.Key)
	return err
}

// marked runs a statement that commits by itself, such as CREATE TABLE, or that changes a table
// without transactions. Its key is committed before it runs. If the process ends in between, the
// next call with the key learns that nothing is known.
func (e *Engine) marked(ctx context.Context, call engine.Call) (result engine.Result, err error) {
	if err := e.ensureKeys(ctx, call); err != nil {
		return result, err
	}
	err = on(ctx, e.writes, call, func(ctx context.Context, conn *sql.Conn) error {
		if seen, err := claimed(ctx, conn, call, &result); seen || err != nil {
			return err
		}
		if result, err = effect(ctx, conn, call); err != nil {
			return refused(ctx, conn, call, err)
		}
		if err := finished(ctx, conn, call, result); err != nil {
			return fmt.Errorf("%w: it ended, and its result could not be stored: %w", engine.ErrUnknown, err)
		}
		return nil
	})
	return result, err
}

// refused forgets the key of a statement that the server refused. Of one that was ended, or that
// changed rows without a transaction, it is not known how far it came.
func refused(ctx context.Context, conn *sql.Conn, call engine.Call, err error) error {
	answer := new(driver.MySQLError)
	ended := !errors.As(err, &answer) || errors.Is(explain(ctx, err), context.DeadlineExceeded)
	if ended || call.Facts.Class == statement.Write {
		return fmt.Errorf("%w: %w", engine.ErrUnknown, err)
	}
	_, problem := conn.ExecContext(ctx, forget, call.Key.Key)
	return errors.Join(err, problem)
}

// ended adds to the error of a statement without a key that was sent that nothing is known, unless
// the server refused it or has rolled it back. A timeout has lost its number here: see explain.
func (e *Engine) ended(ctx context.Context, call engine.Call, err error) error {
	if err == nil || errors.Is(err, engine.ErrUnknown) || errors.As(err, new(*driver.MySQLError)) {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), slack)
	defer cancel()
	call.Limits.Timeout = slack
	transactional, problem := e.transactional(ctx, call)
	if transactional && problem == nil {
		return err
	}
	return errors.Join(fmt.Errorf("%w: %w", engine.ErrUnknown, err), problem)
}

func (e *Engine) ensureKeys(ctx context.Context, call engine.Call) error {
	if e.keysReady.Load() {
		return nil
	}
	call.Facts.Class = statement.Read // the connection can be used again
	err := on(ctx, e.writes, call, func(ctx context.Context, conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, createKeys)
		return err
	})
	if err != nil {
		return fmt.Errorf("create the table %s for idempotency keys: %w; let the user create it, or set keys: false", engine.KeyTable, err)
	}
	e.keysReady.Store(true)
	return nil
}

// transactionalEngines are the storage engines whose changes are rolled back.
var transactionalEngines = []string{"innodb", "rocksdb", "ndbcluster"}

// transactional reports whether a statement can be rolled back: it changes rows, of tables whose
// storage engine has transactions.
func (e *Engine) transactional(ctx context.Context, call engine.Call) (bool, error) {
	if call.Facts.Class != statement.Write {
		return false, nil
	}
	names := call.Facts.Writes
	if len(names) == 0 {
		return true, nil
	}
	list := strings.TrimSuffix(strings.Repeat("?,", len(names)), ",")
	args := make([]any, 0, 2*len(names))
	for range 2 {
		for _, name := range names {
			args = append(args, name)
		}
	}
	all := true
	err := on(ctx, e.writes, engine.Call{Limits: call.Limits}, func(ctx context.Context, conn *sql.Conn) error {
		rows, err := conn.QueryContext(ctx, `SELECT lower(coalesce(engine, '')) FROM information_schema.tables
			WHERE table_schema = database() AND table_name IN (`+list+`) OR concat(table_schema, '.', table_name) IN (`+list+`)`, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				return err
			}
			all = all && slices.Contains(transactionalEngines, name)
		}
		return rows.Err()
	})
	return all, err
}
