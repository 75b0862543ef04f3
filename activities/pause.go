package activities

import (
	"context"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/switches"
)

// Switches know which destructive calls are paused.
type Switches interface {
	Holding(ctx context.Context, c switches.Call) (switches.Switch, bool, error)
}

// paused returns the failure of a call that a switch pauses, or of one about which this is not
// known; then kind is its kind. It is made by fail.
func paused(ctx context.Context, s Switches, kind contract.Kind, c switches.Call) error {
	if s == nil {
		return nil
	}
	w, held, err := s.Holding(ctx, c)
	switch {
	case err != nil:
		return unsent(fail(kind, err.Error(), 0))
	case held:
		return fail(contract.KindPaused, w.Text(), 0)
	}
	return nil
}
