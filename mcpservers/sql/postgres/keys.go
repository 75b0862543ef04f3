package postgres

import (
	"context"
	"fmt"

	"agent-stop-and-go/mcpservers/sql/engine"

	"github.com/jackc/pgx/v5"
)

const createKeys = `CREATE TABLE IF NOT EXISTS ` + engine.KeyTable + ` (
	call_key text PRIMARY KEY, args_sha256 text NOT NULL, state text NOT NULL, result text NOT NULL, created_at timestamptz NOT NULL DEFAULT now())`

// once runs a call with a key in one transaction with the key. The key is inserted first: another
// call with the same key waits there until this one has ended.
func (e *Engine) once(ctx context.Context, call engine.Call) (result engine.Result, err error) {
	if err := e.ensureKeys(ctx, call); err != nil {
		return result, fmt.Errorf("create the table %s for idempotency keys: %w; let the role create it, or set keys: false", engine.KeyTable, err)
	}
	err = within(ctx, e.writes, call, pgx.ReadWrite, func(ctx context.Context, tx pgx.Tx) (bool, error) {
		tag, err := tx.Exec(ctx, `INSERT INTO `+engine.KeyTable+` (call_key, args_sha256, state, result) VALUES ($1, $2, $3, '') ON CONFLICT DO NOTHING`,
			call.Key.Key, call.Key.ArgsSHA256, engine.Started)
		if err != nil {
			return false, err
		}
		if tag.RowsAffected() == 0 {
			var seen engine.Stored
			if err := tx.QueryRow(ctx, `SELECT args_sha256, state, result FROM `+engine.KeyTable+` WHERE call_key = $1`, call.Key.Key).
				Scan(&seen.ArgsSHA256, &seen.State, &seen.Result); err != nil {
				return false, err
			}
			result, err = seen.Match(call.Key)
			return false, err
		}
		if result, err = effect(ctx, tx, call); err != nil {
			return false, err
		}
		text, err := result.Encode()
		if err != nil {
			return false, err
		}
		if _, err = tx.Exec(ctx, `UPDATE `+engine.KeyTable+` SET state = $2, result = $3 WHERE call_key = $1`, call.Key.Key, engine.Done, text); err != nil {
			return false, err
		}
		if e.prune.Due() {
			_, err = tx.Exec(ctx, `DELETE FROM `+engine.KeyTable+` WHERE created_at < $1`, engine.Expired())
		}
		return true, err
	})
	return result, err
}

// ensureKeys creates the table if it is missing. A process asks for it once.
func (e *Engine) ensureKeys(ctx context.Context, call engine.Call) error {
	if e.keysReady.Load() {
		return nil
	}
	err := within(ctx, e.writes, call, pgx.ReadWrite, func(ctx context.Context, tx pgx.Tx) (bool, error) {
		var there bool
		if err := tx.QueryRow(ctx, `SELECT to_regclass($1) IS NOT NULL`, engine.KeyTable).Scan(&there); err != nil || there {
			return false, err
		}
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtext($1))`, engine.KeyTable); err != nil {
			return false, err
		}
		_, err := tx.Exec(ctx, createKeys)
		return true, err
	})
	e.keysReady.Store(err == nil)
	return err
}
