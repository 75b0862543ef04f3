package approval

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/answer"
	"agent-stop-and-go/workflows/console"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/hooks"
	"agent-stop-and-go/workflows/contract/review"
	"agent-stop-and-go/workflows/contract/switches"
	"agent-stop-and-go/workflows/decide"
	"agent-stop-and-go/workflows/proof"
	"agent-stop-and-go/workflows/run"
	"agent-stop-and-go/workflows/signal"
	"agent-stop-and-go/workflows/telemetry"
	"agent-stop-and-go/workflows/wording"
)

// Approval waits for one decision, without a time limit unless it has a timeout. Its result is
// the audit record. A signal that is not recognised leaves it waiting and is shown in its
// details; after many of them it continues as new, under the same ID and for the same parent.
// The first recognised signal or accepted update decides. Cancelling the workflow is a decision
// too, so it never fails.
func Approval(ctx workflow.Context, in contract.ApprovalInput) (contract.ApprovalResult, error) {
	a := &approval{in: in, view: contract.ApprovalView{Pending: in.Pending()}, proofs: proof.Of(ctx)}
	if in.Carried != nil {
		a.view.Problem, a.view.Ignored, a.view.Deferrals = in.Carried.Problem, in.Carried.Ignored, in.Carried.Deferrals
		a.view.Reminded, a.reminded, a.view.Judgements = in.Carried.Reminded, in.Carried.Reminders, in.Carried.Judgements
	} else {
		telemetry.ApprovalOpened(ctx, in)
		a.tell(ctx, hooks.Opened, 1)
	}
	if err := workflow.SetQueryHandler(ctx, contract.QueryApproval, a.query); err != nil {
		return contract.ApprovalResult{}, fmt.Errorf("register query: %w", err)
	}
	if err := a.takeUpdates(ctx); err != nil {
		return contract.ApprovalResult{}, fmt.Errorf("register update: %w", err)
	}
	if err := a.takeEdits(ctx); err != nil {
		return contract.ApprovalResult{}, fmt.Errorf("register update: %w", err)
	}
	if err := a.takeDeferrals(ctx); err != nil {
		return contract.ApprovalResult{}, fmt.Errorf("register update: %w", err)
	}
	if err := a.takeJudgings(ctx); err != nil {
		return contract.ApprovalResult{}, fmt.Errorf("register update: %w", err)
	}
	a.show(ctx)
	if in.Audited {
		workflow.Go(ctx, a.recordOpened)
	}
	if in.Reason == contract.ReasonPaused {
		workflow.Go(ctx, a.awaitRelease)
	}
	for a.wait(ctx); a.view.Result == nil; a.wait(ctx) {
		if may, err := a.rest(ctx); may || err != nil {
			return contract.ApprovalResult{}, cmp.Or(err, a.continueAsNew(ctx))
		}
	}
	a.show(ctx)
	a.tell(ctx, hooks.EventOf(a.view.Result.Decision), 1)
	a.recordDecision(ctx)
	a.awaitTold(ctx)
	if err := workflow.Await(run.Detached(ctx), func() bool { return workflow.AllHandlersFinished(ctx) }); err != nil {
		return contract.ApprovalResult{}, err
	}
	return a.view.Result.Close(), nil
}

type approval struct {
	in       contract.ApprovalInput
	view     contract.ApprovalView
	ignored  int  // signals, in this run
	deferred int  // times, in this run
	refused  int  // changes, in this run
	judged   int  // times, in this run
	held     bool // the rules have ended it
	giving   bool // a standing grant
	stirred  bool // put off since wait looked
	reminded int  // of the plan, in all runs
	proofs   proof.Checker
	recorded bool // the audit log has what is shown

	told     []workflow.Future // what tells web hooks has been started
	updates  []*decideUpdate   // not handled yet
	released *switches.Release // of a paused call
	judgings []*judging        // that do not count yet
}

// arrived reports whether something is to be handled.
func (a *approval) arrived(ctx workflow.Context) bool {
	return workflow.GetSignalChannel(ctx, contract.SignalDecide).Len() > 0 || len(a.updates) > 0 || a.released != nil || a.stirred ||
		workflow.GetSignalChannel(ctx, review.SignalRelease).Len() > 0 || a.judgingFor(fresh) != nil || a.judgingFor(settled) != nil
}

// wait returns when there is a result, or the run is to continue as new.
func (a *approval) wait(ctx workflow.Context) {
	ch := workflow.GetSignalChannel(ctx, contract.SignalDecide)
	arrived := func() bool { return a.arrived(ctx) }
	for a.view.Result == nil && (arrived() || !a.mayRollOver(ctx)) {
		ok, err := a.await(ctx, arrived)
		switch {
		case ch.Len() > 0: // before updates: a signal was recorded when it came
			a.handleSignal(ctx, ch)
		case len(a.updates) > 0:
			a.handleUpdate(ctx)
		case a.judgingFor(fresh) != nil:
			a.startJudging(ctx, a.judgingFor(fresh))
		case a.judgingFor(settled) != nil:
			a.settle(ctx, a.judgingFor(settled))
		case workflow.GetSignalChannel(ctx, review.SignalRelease).Len() > 0:
			a.handleRelease(ctx)
		case a.released != nil:
			r := *a.released
			a.conclude(ctx, contract.Approved, contract.DecideSignal{By: r.By, Identity: r.Identity, Via: viaControl, Reason: wording.Resumed})
		case a.stirred:
			a.stirred = false
		case temporal.IsCanceledError(err):
			a.conclude(ctx, contract.Cancelled, contract.DecideSignal{Reason: wording.CauseRequestWithdrawn})
		case err == nil && !ok && !a.isExpired(ctx):
			a.remind(ctx)
		case err == nil && !ok:
			a.conclude(ctx, contract.Expired, contract.DecideSignal{Reason: wording.CauseUndecided(a.in.Timeout)})
		}
	}
}

// changeApprovalRuns marks histories that end because of signals that decided nothing.
const changeApprovalRuns = "approval-continues"

// mayRollOver reports whether the run has ignored enough signals, or was put off often enough. A
// cancelled run ends by itself.
func (a *approval) mayRollOver(ctx workflow.Context) bool {
	return decide.RollOverNode(run.History(ctx)) && a.ignored+a.deferred+a.refused+a.judged > 0 && len(a.judgings) == 0 && ctx.Err() == nil &&
		workflow.GetVersion(ctx, changeApprovalRuns, workflow.DefaultVersion, 1) >= 1
}

// rest waits until nothing runs any more. It reports whether nothing has arrived meanwhile, so that the
// run may continue as new.
func (a *approval) rest(ctx workflow.Context) (bool, error) {
	a.awaitTold(ctx)
	err := workflow.Await(run.Detached(ctx), func() bool { return a.arrived(ctx) || workflow.AllHandlersFinished(ctx) }) // of refused changes
	return !a.arrived(ctx), err
}

func (a *approval) continueAsNew(ctx workflow.Context) error {
	next := a.in
	next.Carried = &contract.ApprovalCarried{Problem: a.view.Problem, Ignored: a.view.Ignored, Deferrals: a.view.Deferrals, Reminded: a.view.Reminded, Reminders: a.reminded, Judgements: a.view.Judgements}
	return workflow.NewContinueAsNewError(ctx, contract.WorkflowApproval, next)
}

// await returns false without an error if the approval has expired, or is to remind.
func (a *approval) await(ctx workflow.Context, arrived func() bool) (bool, error) {
	at, ends := a.deadline()
	if !ends {
		return true, workflow.Await(ctx, arrived)
	}
	left := at.Sub(workflow.Now(ctx))
	return workflow.AwaitWithTimeout(ctx, max(left, time.Millisecond), arrived)
}

func (a *approval) handleSignal(ctx workflow.Context, ch workflow.ReceiveChannel) {
	raw, ok := signal.Receive(ch)
	if !ok {
		return
	}
	given, err := a.read(ctx, raw)
	if err == nil {
		err = a.proofs.Decider(ctx, a.in, raw, given)
	}
	var changed *contract.Revision
	if err == nil {
		changed, err = a.revise(ctx, given)
	}
	if err != nil && a.view.Result != nil { // the rules have ended it
		return
	}
	if err != nil {
		a.ignore(ctx, err)
		return
	}
	a.decide(ctx, given, changed)
}

// problemText is the text of an error, without the kind of a refusal.
func problemText(err error) string {
	var refused *temporal.ApplicationError
	if errors.As(err, &refused) {
		return refused.Message()
	}
	return err.Error()
}

// decide concludes the approval with a person's decision, about the call as it is or as changed.
func (a *approval) decide(ctx workflow.Context, given contract.DecideSignal, changed *contract.Revision) {
	decision := contract.Rejected
	if given.Approved {
		decision = contract.Approved
	}
	a.conclude(ctx, decision, given)
	a.view.Result.Content, a.view.Result.Revision = given.Content, changed
	if a.giving = given.Always != nil; a.giving {
		a.giveGrant(ctx, given)
	}
	if p := a.view.Pending; p.TakesContent() && !p.Answered() {
		a.view.Result.Outcome = a.view.Result.Resolution().Outcome
	}
}

func (a *approval) read(ctx workflow.Context, raw json.RawMessage) (given contract.DecideSignal, err error) {
	if a.view.Pending.TakesContent() {
		given, err = readSignal(run.Detached(ctx), raw, a.in.Schema)
	} else {
		var parsed answer.Answer
		if parsed, err = answer.Parse(raw); err == nil && parsed.Approved {
			err = wording.Unapprovable(a.in, parsed.Via, parsed.Identity)
		}
		given = answer.Reply{Answer: parsed}.Signal()
	}
	if err == nil {
		err = a.checkEdit(given)
	}
	if err == nil {
		err = a.checkAlways(ctx, given)
	}
	return given, err
}

func (a *approval) conclude(ctx workflow.Context, d contract.Decision, given contract.DecideSignal) {
	if (d == contract.Approved || d == contract.Rejected) && !a.held {
		given = a.typed(given)
	}
	a.view.Problem = ""
	a.view.Result = &contract.ApprovalResult{
		UUID: a.in.UUID, ConversationID: a.in.ConversationID, Tool: a.in.Tool,
		ArgumentsSHA256: a.in.ArgumentsSHA256, Decision: d,
		By: given.By, Reason: given.Reason, Via: given.Via, Chain: given.Chain, RequestID: given.RequestID,
		RequestedAt: a.in.CreatedAt, DecidedAt: workflow.Now(ctx).UTC(),
		Credential: given.Credential, OnBehalfOf: given.OnBehalfOf, Identity: given.Identity, For: given.For, Policy: a.policy(), Echo: given.Echo,
	}
	LogDecision(ctx, a.in, *a.view.Result)
	telemetry.ApprovalClosed(ctx, a.in, *a.view.Result)
}

// typed completes a decision that did not come through the gateway. With authentication the
// gateway's decisions have an identity.
func (a *approval) typed(given contract.DecideSignal) contract.DecideSignal {
	if !given.Identity.Authenticated() {
		given.Identity, given.For = proof.Typist(a.in.Owner), nil
	}
	if given.Via == "" || given.Identity.Channel == contract.ChannelSignal && given.Via != ViaMessage {
		given.Via = contract.ChannelSignal
	}
	return given
}

func (a *approval) query() (contract.ApprovalView, error) {
	v := a.view
	if v.Result != nil {
		record := v.Result.Public()
		v.Result = &record
	}
	return v, nil
}

func (a *approval) show(ctx workflow.Context) {
	workflow.SetCurrentDetails(ctx, wording.ApprovalDetails(a.view, a.in.AgentName, a.in.Server, console.Of(ctx)))
}
