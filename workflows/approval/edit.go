package approval

import (
	"cmp"
	"encoding/json"
	"errors"
	"time"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/activity"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/edit"
	"agent-stop-and-go/workflows/contract/review"
	"agent-stop-and-go/workflows/contract/verdict"
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

// revise returns the call that a decision is about, nil if nothing has changed. It has a call that is
// approved judged by the rules of now. An error refuses the decision: the approval waits on, unless
// the rules end it.
func (a *approval) revise(ctx workflow.Context, given contract.DecideSignal) (*contract.Revision, error) {
	if len(given.Edit) == 0 && (!given.Approved || a.in.Waits == nil) {
		return nil, nil
	}
	in := a.reviewOf()
	in.Edit, in.Allowed = given.Edit, a.in.Edit
	o := activity.LocalOptions(reviewTimeout, wording.SummaryReview)
	o.ScheduleToCloseTimeout = 2 * reviewTimeout
	out, err := activity.RunLocal(run.Detached(ctx), review.Activity, o, in)
	switch {
	case ctx.Err() != nil || a.isOver(ctx): // withdrawn or expired meanwhile
		return nil, refuseUpdate(contract.KindDecided, wording.TextDecided)
	case err != nil:
		return nil, refuseUpdate(review.KindUnjudged, wording.Unjudged(activity.Failure(err)))
	case len(given.Edit) == 0:
		return a.tighten(ctx, out)
	case out.Problem != "" || out.Revision == nil:
		return nil, refuseUpdate(contract.KindInvalid, out.Problem)
	case out.Verdict.Holding():
		return nil, refuseUpdate(contract.KindForbidden, wording.EditHeld(*out.Verdict))
	}
	r := *out.Revision
	r.Call, r.Verdict, r.Policy, r.Edit = a.in.Call, out.Verdict, out.Policy, contract.Hash(edit.Canonical(given.Edit))
	return &r, nil
}

// tighten does what the rules of now demand beyond those by which the call was judged first. They
// may end the approval, or ask others.
func (a *approval) tighten(ctx workflow.Context, out review.Result) (*contract.Revision, error) {
	now := cmp.Or(out.Tightened, a.tightened())
	if out.Policy != "" && a.in.Waits != nil { // what the decision is given under
		waits := *a.in.Waits
		waits.Policy, a.in.Waits = out.Policy, &waits
	}
	switch {
	case now == nil:
		return nil, nil
	case now.Holding():
		a.held = true
		a.conclude(ctx, contract.Rejected, contract.DecideSignal{Via: verdict.Via, Reason: wording.Held(*now)})
		return nil, refuseUpdate(contract.KindForbidden, wording.Held(*now))
	}
	return &contract.Revision{
		Call: a.in.Call, Arguments: a.in.Arguments, SHA256: a.in.ArgumentsSHA256, Changes: []edit.Change{}, Verdict: now, Policy: cmp.Or(out.Policy, now.Policy),
	}, nil
}
