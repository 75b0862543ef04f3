package workflows

import (
	"errors"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/approvers"
	"agent-stop-and-go/workflows/contract/key"
	"agent-stop-and-go/workflows/contract/rates"
	"agent-stop-and-go/workflows/run"
	"agent-stop-and-go/workflows/wording"
)

// maxRateWait is after how long a call that waits for a rate limit asks again, in case that has
// been raised.
const maxRateWait = 10 * time.Minute

// rateRefusal returns why a rate limit holds a call. Old histories have no such failure.
func rateRefusal(err error) (r rates.Refusal, ok bool) {
	var app *temporal.ApplicationError
	ok = errors.As(err, &app) && contract.Kind(app.Type()) == contract.KindRateLimited && app.Details(&r) == nil
	return r, ok
}

// passage is what the rate limits need to know of a call.
func (l *leaf) passage(c call) rates.Passage {
	p := rates.Passage{Over: c.over}
	if a := l.parent.origin(); a.caller != nil && a.caller.Subject != "" {
		p.Caller = key.Of(a.caller.Issuer, a.caller.Subject)
	} else {
		p.Caller = a.owner.Key()
	}
	return p
}

// passRate does what a rate limit demands of a call that it holds. It returns nil if the call may
// be tried again, else its result.
func (l *leaf) passRate(ctx workflow.Context, c *call, r rates.Refusal) *contract.CallToolResult {
	refused := wording.RateResult(r)
	switch r.Limit.On {
	case rates.Pause:
		if l.awaitRate(ctx, c, r) {
			return nil
		}
	case rates.Ask:
		d := l.askRate(ctx, *c, r)
		if d.Decision == contract.Approved && ctx.Err() == nil {
			c.over, c.asked = append(c.over, r.Limit.Name), true
			return nil
		}
		refused = wording.WithReason(refused, d)
	}
	return &refused
}

// awaitRate waits until there is room for a call. It returns false if the turn has ended; then
// the call gives back its place.
func (l *leaf) awaitRate(ctx workflow.Context, c *call, r rates.Refusal) bool {
	defer l.clock.Pause(ctx)()
	if c.waits != r.Limit.Name {
		c.waits = r.Limit.Name
		l.note(ctx, wording.RateWait(c.Name, r))
	}
	wait := max(r.At.Sub(workflow.Now(ctx)), 10*time.Millisecond)
	o := workflow.TimerOptions{Summary: wording.RateWaitSummary(r)}
	if workflow.NewTimerWithOptions(ctx, min(wait, maxRateWait), o).Get(ctx, nil) == nil {
		return true
	}
	workflow.SignalExternalWorkflow(run.Detached(ctx), r.Counter, "", rates.SignalReturn, r.Key)
	return false
}

// askRate asks whether a call may exceed a rate limit: those who have approved it, if it waited
// for people because of a rule.
func (l *leaf) askRate(ctx workflow.Context, c call, r rates.Refusal) contract.ApprovalResult {
	in := l.approvalFor(ctx, c, l.describe(ctx, c.Call)+"\n\n"+wording.RateRequest(r), contract.ReasonDestructive)
	in.UUID, in.Because, in.Rule = run.NewUUID(ctx, "approval"), contract.GroundRule, r.Limit.Name
	if c.Verdict.Asking() {
		asks := c.Verdict.Asks
		in.Approvers = approvers.Required(asks[len(asks)-1], l.parent.origin().agent.Approvers)
	}
	return *l.awaitApproval(ctx, &in)
}
