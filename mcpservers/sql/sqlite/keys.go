package sqlite

import (
	"fmt"
	"time"

	"agent-stop-and-go/mcpservers/hosting"
	"agent-stop-and-go/mcpservers/sql/engine"

	"github.com/ncruces/go-sqlite3"
)

const createKeys = `CREATE TABLE IF NOT EXISTS ` + engine.KeyTable + ` (
	call_key TEXT PRIMARY KEY, args_sha256 TEXT NOT NULL, state TEXT NOT NULL, result TEXT NOT NULL, created_at INTEGER NOT NULL)`

// lookUp makes the table, drops old keys, and returns the result of an earlier call.
func (e *Engine) lookUp(db *sqlite3.Conn, key hosting.CallKey) (seen bool, result engine.Result, err error) {
	if err := db.Exec(createKeys); err != nil {
		return false, result, fmt.Errorf("create the table for idempotency keys: %w", err)
	}
	if e.prune.Due() {
		if err := db.Exec(fmt.Sprintf(`DELETE FROM %s WHERE created_at < %d`, engine.KeyTable, engine.Expired().Unix())); err != nil {
			return false, result, fmt.Errorf("drop old idempotency keys: %w", err)
		}
	}
	stmt, _, err := db.Prepare(`SELECT args_sha256, state, result FROM ` + engine.KeyTable + ` WHERE call_key = ?`)
	if err != nil {
		return false, result, fmt.Errorf("look up the idempotency key: %w", err)
	}
	defer stmt.Close()
	if err := stmt.BindText(1, key.Key); err != nil {
		return false, result, err
	}
	if !stmt.Step() {
		return false, result, stmt.Err()
	}
	result, err = engine.Stored{ArgsSHA256: stmt.ColumnText(0), State: stmt.ColumnText(1), Result: stmt.ColumnText(2)}.Match(key)
	return true, result, err
}

func store(db *sqlite3.Conn, key hosting.CallKey, result engine.Result) error {
	text, err := result.Encode()
	if err != nil {
		return err
	}
	stmt, _, err := db.Prepare(`INSERT INTO ` + engine.KeyTable + ` VALUES (?, ?, ?, ?, ?)`)
	if err != nil {
		return fmt.Errorf("store the idempotency key: %w", err)
	}
	defer stmt.Close()
	for i, value := range []string{key.Key, key.ArgsSHA256, engine.Done, text} {
		if err := stmt.BindText(i+1, value); err != nil {
			return err
		}
	}
	if err := stmt.BindInt64(5, time.Now().Unix()); err != nil {
		return err
	}
	return stmt.Exec()
}
