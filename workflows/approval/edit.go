package approval

import (
	"encoding/json"
	"errors"
	"time"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/activity"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/edit"
	"agent-stop-and-go/workflows/contract/review"
	"agent-stop-and-go/workflows/run"
	"agent-stop-and-go/workflows/wording"
)

// reviewTimeout is that of an attempt to judge a call: servers are asked for facts.
const reviewTimeout = 5 * time.Second

// takeEdits registers the update that approves with changes.
func (a *approval) takeEdits(ctx workflow.Context) error {
	return workflow.SetUpdateHandlerWithOptions(ctx, edit.Update, a.acceptUpdate, workflow.UpdateHandlerOptions{
		Validator: func(ctx workflow.Context, raw json.RawMessage) error { return a.validateUpdate(ctx, edit.Update, raw) },
	})
}

// checkEdit returns why changes are not allowed with a decision, or nil.
func (a *approval) checkEdit(given contract.DecideSignal) error {
	switch {
	case len(given.Edit) == 0:
		return nil
	case !given.Approved:
		return errors.New(wording.TextEditRejected)
	}
	return edit.Check(given.Edit, a.in.Edit)
}

// revise returns the call that a decision is about, nil if nothing is changed. It has a changed call
// judged by the rules. An error refuses the changes, and the approval waits on.
func (a *approval) revise(ctx workflow.Context, given contract.DecideSignal) (*contract.Revision, error) {
	if len(given.Edit) == 0 {
		return nil, nil
	}
	o := activity.LocalOptions(reviewTimeout, wording.SummaryReview)
	o.ScheduleToCloseTimeout = 2 * reviewTimeout
	out, err := activity.RunLocal(run.Detached(ctx), review.Activity, o, review.Input{
		ConversationID: a.in.ConversationID, Tool: a.in.Tool, Server: a.in.Server, Arguments: a.in.Arguments, Basis: a.in.Basis,
		Edit: given.Edit, Allowed: a.in.Edit,
	})
	switch {
	case ctx.Err() != nil: // withdrawn meanwhile
		return nil, refuseUpdate(contract.KindDecided, wording.TextDecided)
	case err != nil:
		return nil, refuseUpdate(contract.KindBlob, wording.EditUnchecked(activity.Failure(err)))
	case out.Problem != "" || out.Revision == nil:
		return nil, refuseUpdate(contract.KindInvalid, out.Problem)
	case out.Verdict.Holding():
		return nil, refuseUpdate(contract.KindForbidden, wording.EditHeld(*out.Verdict))
	}
	r := *out.Revision
	r.Call, r.Verdict, r.Policy, r.Edit = a.in.Call, out.Verdict, out.Policy, contract.Hash(edit.Canonical(given.Edit))
	return &r, nil
}
