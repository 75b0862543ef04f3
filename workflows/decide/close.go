package decide

import (
	"time"

	"agent-stop-and-go/workflows/contract"
)

// Closes reports whether a signal closes a conversation that changed last at a time. idle means
// that it has no turn, neither a running one nor one that is queued.
func Closes(s contract.CloseSignal, idle bool, changed time.Time) bool {
	return s.UnchangedSince.IsZero() || idle && !changed.After(s.UnchangedSince)
}
