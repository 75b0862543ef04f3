package approval

import (
	"errors"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/activity"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/grant"
	"agent-stop-and-go/workflows/contract/standing"
	"agent-stop-and-go/workflows/run"
	"agent-stop-and-go/workflows/wording"
)

// giveTimeout is that of an attempt to give a standing grant. After giveWithin the call goes on without.
const (
	giveTimeout = 10 * time.Second
	giveWithin  = time.Minute
)

// special reports whether a decision is more than a yes or a no to the call as it is, so that a worker
// that does not know it must not take it.
func special(given contract.DecideSignal) bool { return len(given.Edit) > 0 || given.Always != nil }

// checkAlways returns why a decision may not give a standing grant, or nil. What it is for has been shown
// to the person.
func (a *approval) checkAlways(ctx workflow.Context, given contract.DecideSignal) error {
	switch {
	case given.Always == nil:
		return nil
	case !given.Approved:
		return errors.New(wording.TextAlwaysRejected)
	case len(given.Edit) > 0:
		return errors.New(wording.TextAlwaysEdited)
	case given.For != nil:
		return errors.New(wording.TextAlwaysDeputy)
	}
	_, err := standing.Confirmed(a.in.Pending(), *given.Always, workflow.Now(ctx))
	return err
}

// giveGrant gives the standing grant that was decided. The approval has its result; if there is no grant
// after all, that says why.
func (a *approval) giveGrant(ctx workflow.Context, given contract.DecideSignal) {
	defer func() { a.giving = false }()
	result := a.view.Result
	result.Always = &grant.Given{Choice: *given.Always}
	terms, err := standing.Propose(a.in.Pending(), *given.Always, result.DecidedAt)
	if err == nil && (terms.Digest() != given.Always.Digest || result.Revision != nil) {
		err = errors.New(wording.TextAlwaysOther)
	}
	if err == nil {
		by := standing.PersonOf(given.Identity, given.By)
		by.Scopes, by.Groups = given.Identity.Scopes, given.Identity.Groups
		err = a.sendGrant(run.Detached(ctx), standing.Giving{Terms: terms, By: by, Via: given.Via, Since: result.DecidedAt})
	}
	if err != nil {
		result.Always.Problem = activity.Failure(err).Message
		workflow.GetLogger(ctx).Warn("a call is approved without the standing grant", "uuid", a.in.UUID, "error", err)
	}
}

func (a *approval) sendGrant(ctx workflow.Context, g standing.Giving) error {
	g.Proof = a.proofs.Make(ctx, standing.WorkflowID(workflow.GetInfo(ctx).TaskQueueName), standing.UpdateGive, g)
	o := activity.Options(giveTimeout, 0, wording.SummaryGive)
	o.ScheduleToCloseTimeout, o.HeartbeatTimeout = giveWithin, 0
	o.RetryPolicy = &temporal.RetryPolicy{InitialInterval: 100 * time.Millisecond, MaximumInterval: 5 * time.Second}
	_, err := activity.Run(ctx, standing.Give, o, g)
	return err
}
