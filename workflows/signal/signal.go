package signal

import (
	"encoding/json"
	"errors"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

// Receive returns the next signal of a channel as raw JSON. People type signals: with a typed
// receive the SDK silently drops signals that do not fit.
func Receive(ch workflow.ReceiveChannel) (raw json.RawMessage, ok bool) {
	var v converter.RawValue
	if !ch.ReceiveAsync(&v) {
		return nil, false
	}
	if p := v.Payload(); p != nil {
		return p.GetData(), true
	}
	return nil, true
}

// Message parses a message signal: contract.MessageSignal, or a bare string.
func Message(raw json.RawMessage) (contract.MessageSignal, error) {
	var m contract.MessageSignal
	var text string
	if json.Unmarshal(raw, &text) == nil {
		m.Text = contract.Inline(text)
	} else if err := json.Unmarshal(raw, &m); err != nil {
		return m, wording.UnreadMessage(err)
	}
	if m.Text.IsZero() && len(m.Media) == 0 {
		return m, errors.New(wording.TextEmptyMessage)
	}
	return m, nil
}

// Optional parses the argument of a signal that may have none.
func Optional[T any](raw json.RawMessage) T {
	var v T
	if json.Unmarshal(raw, &v) != nil {
		var zero T
		return zero
	}
	return v
}
