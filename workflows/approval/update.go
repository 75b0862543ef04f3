package approval

import (
	"encoding/json"
	"slices"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/edit"
	"agent-stop-and-go/workflows/run"
	"agent-stop-and-go/workflows/wording"
)

// decideUpdate is an accepted update, which waits for its turn.
type decideUpdate struct {
	given   contract.DecideSignal
	decided bool  // the approval
	refused error // if it does not decide
}

// takeUpdates registers the update that decides. What it refuses is not recorded in history.
func (a *approval) takeUpdates(ctx workflow.Context) error {
	return workflow.SetUpdateHandlerWithOptions(ctx, contract.UpdateDecide, a.acceptUpdate,
		workflow.UpdateHandlerOptions{Validator: a.validateDecision})
}

func (a *approval) validateDecision(ctx workflow.Context, raw json.RawMessage) error {
	return a.validateUpdate(ctx, contract.UpdateDecide, raw)
}

// validateUpdate refuses what does not decide. An answer whose schema is not in history is
// refused with another kind, because only the signal can have an activity read it. After its time
// an approval takes none, also while its timer is late, as in the moment after a restart.
func (a *approval) validateUpdate(ctx workflow.Context, name string, raw json.RawMessage) error {
	decides := func(u *decideUpdate) bool { return !special(u.given) }
	switch {
	case a.view.Result != nil || slices.ContainsFunc(a.updates, decides) || a.isOver(ctx):
		return refuseUpdate(contract.KindDecided, wording.TextDecided)
	case a.in.Schema.Blob != nil:
		return refuseUpdate(contract.KindBlob, wording.TextSchemaStored)
	}
	given, err := a.read(ctx, raw)
	if err != nil {
		return refuseUpdate(contract.KindInvalid, err.Error())
	}
	if special(given) != (name == edit.Update) { // the other one is for that
		return refuseUpdate(contract.KindInvalid, wording.TextEditUpdate)
	}
	if err := a.proofs.ValidateDecider(ctx, a.in, name, raw, given); err != nil {
		return refuseUpdate(contract.KindForbidden, err.Error())
	}
	return nil
}

// acceptUpdate waits until the loop has decided.
func (a *approval) acceptUpdate(ctx workflow.Context, raw json.RawMessage) (contract.ApprovalResult, error) {
	given, err := a.read(ctx, raw)
	if err != nil { // in replays of a worker that parsed answers differently
		return contract.ApprovalResult{}, refuseUpdate(contract.KindInvalid, err.Error())
	}
	u := &decideUpdate{given: given}
	a.updates = append(a.updates, u)
	if err := workflow.Await(run.Detached(ctx), func() bool { return a.view.Result != nil && !a.giving || u.refused != nil }); err != nil {
		return contract.ApprovalResult{}, err
	}
	if u.refused != nil {
		return contract.ApprovalResult{}, u.refused
	}
	if !u.decided {
		return contract.ApprovalResult{}, refuseUpdate(contract.KindDecided, wording.TextDecided)
	}
	return a.view.Result.Public(), nil
}

// handleUpdate lets the oldest update decide.
func (a *approval) handleUpdate(ctx workflow.Context) {
	u := a.updates[0]
	a.updates = a.updates[1:]
	changed, err := a.revise(ctx, u.given)
	if err != nil {
		a.refused++
		u.refused = err
		return
	}
	u.decided = true
	a.decide(ctx, u.given, changed)
}

// isOver reports whether the time of the approval has passed.
func (a *approval) isOver(ctx workflow.Context) bool {
	at := a.in.ExpiresAt()
	return at != nil && !workflow.Now(ctx).Before(*at)
}

func refuseUpdate(kind contract.Kind, text string) error {
	return temporal.NewNonRetryableApplicationError(text, string(kind), nil)
}
