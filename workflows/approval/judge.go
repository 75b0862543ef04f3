package approval

import (
	"encoding/json"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/activity"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/audit"
	"agent-stop-and-go/workflows/contract/judgement"
	"agent-stop-and-go/workflows/contract/review"
	"agent-stop-and-go/workflows/contract/verdict"
	"agent-stop-and-go/workflows/ledger"
	"agent-stop-and-go/workflows/run"
	"agent-stop-and-go/workflows/wording"
)

// A judging waits for a worker with the rules that are to judge: for judgeTime where nobody waits, and
// for releaseTime where an operator does.
const (
	judgeTime   = 2 * time.Minute
	releaseTime = 8 * time.Second
)

// judging is a call that is judged by the rules of a version, to be released by them if release is set.
type judging struct {
	policy  string
	release *review.Release
	started bool
	ended   bool // out or err is set
	done    bool // and it has counted
	out     review.Result
	err     error
}

// takeJudgings registers the updates that are about the rules.
func (a *approval) takeJudgings(ctx workflow.Context) error {
	o := workflow.UpdateHandlerOptions{Validator: a.validateJudge}
	if err := workflow.SetUpdateHandlerWithOptions(ctx, review.UpdateJudge, a.judge, o); err != nil {
		return err
	}
	o.Validator = a.validateRelease
	return workflow.SetUpdateHandlerWithOptions(ctx, review.UpdateRelease, a.release, o)
}

// isRuled reports whether rules of the agent may be about the call. A rate limit that asks is none of them.
func (a *approval) isRuled() bool {
	rate := a.in.Because == contract.GroundRule && a.in.Policy == ""
	return a.in.Waits != nil || a.in.Reason == contract.ReasonDestructive && !a.in.Arguments.IsZero() && !rate
}

// policy is the version of the rules that have judged the call last, "" without.
func (a *approval) policy() string {
	if a.in.Waits != nil && a.in.Waits.Policy != "" {
		return a.in.Waits.Policy
	}
	return verdict.PolicyOf(a.in.Basis.Raw)
}

// validateJudge refuses a version that has judged the call before: so two versions that run side by side
// take no turns.
func (a *approval) validateJudge(ctx workflow.Context, in review.Judge) error {
	switch {
	case a.view.Result != nil || len(a.updates) > 0 || a.isOver(ctx):
		return refuseUpdate(contract.KindDecided, wording.TextDecided)
	case in.Policy == "" || !a.isRuled() || a.knows(in.Policy):
		return refuseUpdate(contract.KindInvalid, wording.TextJudged)
	}
	return nil
}

// knows reports whether a version has judged the call, or does so.
func (a *approval) knows(policy string) bool {
	for _, j := range a.judgings {
		if j.policy == policy && j.release == nil {
			return true
		}
	}
	return policy == a.policy() || policy == verdict.PolicyOf(a.in.Basis.Raw) || policy == a.in.Policy || a.view.Judgements.Knows(policy)
}

// judge has the call judged, and returns when that counts.
func (a *approval) judge(ctx workflow.Context, in review.Judge) error {
	j := &judging{policy: in.Policy}
	a.judgings = append(a.judgings, j)
	return a.awaitJudging(ctx, j)
}

func (a *approval) awaitJudging(ctx workflow.Context, j *judging) error {
	if err := workflow.Await(run.Detached(ctx), func() bool { return j.done || a.view.Result != nil }); err != nil {
		return err
	}
	if !j.done {
		return refuseUpdate(contract.KindDecided, wording.TextDecided)
	}
	return j.err
}

// judgingFor returns a judging that is to be started, or has ended; nil if there is none.
func (a *approval) judgingFor(is func(*judging) bool) *judging {
	for _, j := range a.judgings {
		if is(j) {
			return j
		}
	}
	return nil
}

func fresh(j *judging) bool   { return !j.started }
func settled(j *judging) bool { return j.ended }

// startJudging judges beside the loop, so that a decision does not wait for it. Any worker may do it that
// has the rules.
func (a *approval) startJudging(ctx workflow.Context, j *judging) {
	j.started = true
	in := a.reviewOf()
	in.Policy = j.policy
	o := activity.Options(2*reviewTimeout, 0, wording.SummaryReview)
	o.HeartbeatTimeout, o.ScheduleToCloseTimeout = 0, judgeTime
	if j.release != nil {
		o.ScheduleToCloseTimeout = releaseTime
	}
	o.RetryPolicy.MaximumInterval = 4 * time.Second
	workflow.Go(run.Detached(ctx), func(ctx workflow.Context) {
		if j.out, j.err = activity.Run(ctx, review.Activity, o, in); j.err == nil && j.out.Policy != j.policy { // by a worker that knows no versions
			j.err = temporal.NewApplicationError(wording.TextOtherRules, string(review.KindOtherRules))
		}
		j.ended = true
	})
}

// reviewOf is the input of the activity that judges the call as it waits.
func (a *approval) reviewOf() review.Input {
	in := review.Input{ConversationID: a.in.ConversationID, Tool: a.in.Tool, Server: a.in.Server, Arguments: a.in.Arguments, Basis: a.in.Basis}
	if a.in.Waits != nil {
		in.Waits = *a.in.Waits
	}
	return in
}

// settle makes a judging count.
func (a *approval) settle(ctx workflow.Context, j *judging) {
	for i, other := range a.judgings {
		if other == j {
			a.judgings = append(a.judgings[:i:i], a.judgings[i+1:]...)
			break
		}
	}
	j.done = true
	a.judged++
	switch {
	case j.err != nil && j.release != nil:
		a.refuseRelease(ctx, j, refuseUpdate(review.KindUnjudged, wording.Unjudged(activity.Failure(j.err))))
	case j.err != nil:
		workflow.GetLogger(ctx).Warn("a call that waits could not be judged by other rules", "policy", j.policy, "error", j.err)
		j.err = refuseUpdate(review.KindUnjudged, wording.Unjudged(activity.Failure(j.err)))
	case j.release != nil:
		a.releaseBy(ctx, j)
	default:
		a.take(ctx, j.policy, j.out)
	}
}

// take makes what the rules of a version say count: what they demand in addition, and what they alone
// demand only as a remark.
func (a *approval) take(ctx workflow.Context, policy string, out review.Result) {
	entry := judgement.Judgement{Policy: policy, At: workflow.Now(ctx).UTC(), Effect: judgement.None, Would: judgement.WouldOf(out.Loosened)}
	if out.Verdict != nil {
		entry.Rule, entry.Text = out.Verdict.Rule, out.Verdict.Text
	}
	waits := a.reviewOf().Waits
	waits.Policy = policy
	switch now := out.Tightened; {
	case now == nil:
	case now.Holding():
		entry.Effect, entry.Would = judgement.Refused, nil
		a.held = true
		a.conclude(ctx, contract.Rejected, contract.DecideSignal{Via: verdict.Via, Reason: wording.Held(*now)})
		a.view.Result.Policy = policy
	default:
		entry.Effect, entry.Asks = judgement.Tightened, judgement.Needs(now.Asks)
		waits = *now
	}
	a.in.Waits, a.in.Edit, a.view.Pending.Edit = &waits, nil, nil // rules that have changed cannot say what may be
	a.in.Always, a.view.Pending.Always = nil, nil                 // nor what may stand for later calls
	a.view.Judgements = a.view.Judgements.Add(entry)
	if err := workflow.UpsertMemo(ctx, map[string]any{judgement.Memo: a.view.Judgements}); err != nil { // never: it can be encoded
		workflow.GetLogger(ctx).Error("upsert the memo", "error", err)
	}
	a.show(ctx)
	a.announce(ctx, entry)
}

// announce tells the audit log, and the readers of the conversation if something has changed.
func (a *approval) announce(ctx workflow.Context, entry judgement.Judgement) {
	if a.in.Audited {
		ledger.Tell(run.Detached(ctx), audit.Leaf{
			ID: audit.JudgementID(a.in.UUID, entry.Policy), Kind: audit.KindJudgement, At: entry.At, Conversation: a.in.ConversationID, Agent: a.in.AgentName,
			Node: a.in.Node, Server: a.in.Server, Tool: a.in.Tool, Approval: a.in.UUID, Rule: entry.Rule, Policy: entry.Policy, What: wording.JudgementWord(entry),
		})
	}
	parent := workflow.GetInfo(ctx).ParentWorkflowExecution
	if parent == nil || entry.Effect == judgement.Refused || entry.Effect == judgement.None && entry.Would == nil {
		return
	}
	// Nobody waits for it, as for a reminder.
	workflow.SignalExternalWorkflow(run.Detached(ctx), parent.ID, "", contract.SignalQuestion, contract.QuestionSignal{UUID: a.in.UUID, Judgement: &entry})
}

// tightened returns what the call needs because rules have changed while it waits; nil if nothing.
func (a *approval) tightened() *verdict.Verdict {
	if a.in.Waits == nil || !a.in.Waits.Asking() {
		return nil
	}
	return a.in.Waits
}

// readRelease reads a typed release.
func readRelease(raw json.RawMessage) (in review.Release, err error) {
	if err := json.Unmarshal(raw, &in); err != nil {
		return in, fmt.Errorf("%s", wording.TextUnreadRelease)
	}
	return in, in.Check()
}
