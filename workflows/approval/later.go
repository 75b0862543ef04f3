package approval

import (
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/later"
	"agent-stop-and-go/workflows/wording"
)

// takeDeferrals registers the update with which people put the approval off. It decides
// nothing, and the timeout goes on.
func (a *approval) takeDeferrals(ctx workflow.Context) error {
	return workflow.SetUpdateHandlerWithOptions(ctx, later.Update, a.putOff, workflow.UpdateHandlerOptions{Validator: a.validateDeferral})
}

func (a *approval) validateDeferral(ctx workflow.Context, d later.Deferral) error {
	if a.view.Result != nil || len(a.updates) > 0 { // which decides
		return refuseUpdate(contract.KindDecided, wording.TextDecided)
	}
	if err := d.Check(workflow.Now(ctx)); err != nil {
		return refuseUpdate(contract.KindInvalid, err.Error())
	}
	return nil
}

// putOff keeps a deferral, in the memo for lists.
func (a *approval) putOff(ctx workflow.Context, d later.Deferral) error {
	a.deferred++
	a.stirred = true
	a.view.Deferrals = a.view.Deferrals.Put(d, workflow.Now(ctx))
	return workflow.UpsertMemo(ctx, map[string]any{later.Memo: a.view.Deferrals})
}
