package engine

import (
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	"agent-stop-and-go/mcpservers/hosting"
)

// KeyTable is the table for idempotency keys. A key is inserted before its statement runs, and
// gets its result after; both are in the transaction of the statement. Only the server may
// write the table.
const KeyTable = "mcp_sql_calls"

// States of a key.
const (
	// Started is a key whose statement has begun outside of a transaction, such as one that
	// commits by itself. If it stays, it is not known whether the statement ran.
	Started = "started"
	Done    = "done"
)

// Stored is a row of [KeyTable].
type Stored struct{ ArgsSHA256, State, Result string }

// Match returns the result of an earlier call with the same key.
func (s Stored) Match(key hosting.CallKey) (Result, error) {
	switch {
	case s.ArgsSHA256 != key.ArgsSHA256:
		return Result{}, hosting.ErrKeyReused
	case s.State != Done:
		return Result{}, fmt.Errorf("%w: an earlier call began it and did not come back", ErrUnknown)
	}
	result := Result{Repeated: true}
	if err := json.Unmarshal([]byte(s.Result), &result); err != nil {
		return Result{}, fmt.Errorf("read the stored result: %w", err)
	}
	return result, nil
}

// Encode returns the result as it is stored.
func (r Result) Encode() (string, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return "", fmt.Errorf("encode the result: %w", err)
	}
	return string(text), nil
}

// Expired is the time before which keys are deleted.
func Expired() time.Time { return time.Now().Add(-hosting.ResultRetention) }

// Hourly says once an hour that something is due. The zero value is ready to use.
type Hourly struct{ last atomic.Int64 }

// Due reports whether it is an hour since it last did.
func (h *Hourly) Due() bool {
	now, last := time.Now().Unix(), h.last.Load()
	return now-last >= 3600 && h.last.CompareAndSwap(last, now)
}
