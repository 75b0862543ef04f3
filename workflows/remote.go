package workflows

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/activity"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/delegation"
	"agent-stop-and-go/workflows/contract/rates"
	"agent-stop-and-go/workflows/credential/header"
	"agent-stop-and-go/workflows/decide"
	"agent-stop-and-go/workflows/doubt"
	"agent-stop-and-go/workflows/run"
	"agent-stop-and-go/workflows/wording"
)

// remoteTask is the task of another agent for a call. It is cancelled if this side stops
// waiting before it has ended.
type remoteTask struct {
	leaf *leaf
	call call
	last contract.DelegateResult // its last known state
	// unfollowed is set for histories that are older than the polling of tasks.
	unfollowed bool
	approvals  int // number of approvals so far
	// deliveryProblem is why the agent did not receive the last approval, or "".
	deliveryProblem string
	// answered is its last question for which it has received an approval, if any.
	answered     *contract.DelegateResult
	pollProblem  string        // why the last poll failed, or ""
	polls        int           // number of polls since it last began to work
	work         run.Stopwatch // time the task has worked
	thread       *delegation.Thread
	deciderToken string // token of the person whose decision is being sent
}

// changeFollow marks histories in which tasks of other agents are polled. A run that has
// delegated before that does not poll until it continues as new.
const changeFollow = "follow-remote-tasks"

// changeEnd marks histories in which tasks are cancelled also if they require a login or
// continue after a refusal, and in which questions without an ID are distinguished by their
// text.
const changeEnd = "end-remote-tasks"

func cancelsEndedTasks(ctx workflow.Context) bool {
	return workflow.GetVersion(ctx, changeEnd, workflow.DefaultVersion, 1) == 1
}

// delegate sends a call to another agent and polls its task until it ends. Whenever that agent
// asks for an approval, a person here decides, and the decision is sent there.
func (l *leaf) delegate(ctx workflow.Context, c call) callOutcome {
	t := &remoteTask{leaf: l, call: c, unfollowed: workflow.GetVersion(ctx, changeFollow, workflow.DefaultVersion, 1) < 1}
	t.thread = l.dialogues.Take(*c.Peer)
	defer t.thread.Release()
	t.work.Start(ctx)
	ran, err := t.start(ctx, "")
	for {
		switch {
		case ran != nil:
			return callOutcome{CallToolResult: contract.CallToolResult{Text: l.storeText(ctx, *ran)}}
		case t.isLost(ctx, err):
			ran, err = t.restart(ctx)
		case err != nil:
			return t.abandon(ctx, t.failureText(err))
		case t.last.State == contract.TaskAuthRequired && !t.asksLogin(ctx):
			return t.loginOutcome(ctx)
		case t.last.State.Over():
			t.thread.Advance(run.Now(ctx), t.last.ContextID, t.last.TaskID)
			return callOutcome{CallToolResult: wording.DelegationResult(t.last)}
		case ctx.Err() != nil && !(t.unfollowed && t.needsInput()):
			return t.abandon(ctx, t.failureText(ctx.Err()))
		case t.needsInput() || t.asksLogin(ctx):
			var refused *callOutcome
			if refused, err = t.askApproval(ctx); refused != nil {
				return *refused
			}
		case t.timeLeft(ctx) <= 0:
			return t.abandon(ctx, wording.NotFinished(c.Peer.Name, c.Peer.Patience()))
		default:
			err = t.follow(ctx)
		}
	}
}

// start sends the message. It is completed even when the turn is cancelled or the node's time
// is up: only then is the task known, and nothing works unseen. Agents of the present protocol
// answer within a minute.
//
// ran is the result if a person says that the agent has done it despite a failure. grant is the
// approval by which the message is sent again, if it is.
func (t *remoteTask) start(ctx workflow.Context, grant string) (ran *string, err error) {
	if t.call.Task != "" && grant == "" { // it was sent before
		t.last = contract.DelegateResult{TaskID: t.call.Task, State: contract.TaskWorking}
		return nil, nil
	}
	sending := ctx
	if !t.unfollowed {
		sending = run.Detached(ctx)
	}
	in := contract.DelegateInput{
		MessageID: t.call.message, Arguments: t.call.Arguments, SHA256: t.call.SHA256,
		Destructive: t.call.Peer.Destructive, Claim: t.call.claim, Grant: grant, Rate: t.leaf.passage(t.call), Continues: t.thread.Point(),
	}
	return t.sendWithRepeats(ctx, sending, in, func(why string) string {
		return t.leaf.describeUnknown(ctx, t.call.Call, why)
	})
}

// sendWithRepeats sends a message that must not be carried out twice. If its outcome is unknown
// a person decides whether it is sent again; describe returns the description of that approval.
// ran is the result that this person gives.
func (t *remoteTask) sendWithRepeats(ctx, sending workflow.Context, in contract.DelegateInput, describe func(why string) string) (ran *string, err error) {
	for {
		out, err := t.send(sending, in, delegateTimeout, activity.Attempts)
		if err == nil && pausesForLogin(ctx, out.Login) {
			if err := t.awaitLogin(ctx, *out.Login); err != nil {
				return nil, err
			}
			continue
		}
		err = t.update(out, err)
		if err == nil || ctx.Err() != nil || temporal.IsCanceledError(err) {
			return nil, err
		}
		if f := activity.Failure(err); f.Kind == contract.KindPaused {
			if r := t.awaitResume(ctx, f); r.Decision != contract.Approved || ctx.Err() != nil {
				return nil, &declinedError{err, r}
			}
			continue
		}
		if limit, held := rateRefusal(err); held {
			if r := t.passRate(ctx, limit); r != nil {
				return nil, err
			}
			in.Rate = t.leaf.passage(t.call)
			continue
		}
		r, asked := t.askRepeatSend(ctx, in, activity.Failure(err), describe)
		if !asked {
			return nil, err
		}
		if ran, err := repeatDecision(ctx, err, r); ran != nil || err != nil {
			return ran, err
		}
		in.Grant = r.UUID
	}
}

// repeatDecision reads a person's decision about a message that failed with err: the result of
// what was done, or an error if it is not to be sent again. It returns neither if the message
// is to be sent again.
func repeatDecision(ctx workflow.Context, err error, r contract.ApprovalResult) (ran *string, _ error) {
	switch {
	case doubt.HasRun(r):
		result := wording.RanResult(activity.Failure(err).Message, r)
		return &result, nil
	case r.Decision != contract.Approved || ctx.Err() != nil:
		return nil, &declinedError{err, doubt.Recorded(ctx, r)}
	}
	return nil, nil
}

// awaitResume waits until no switch pauses the message. The time does not count as work.
func (t *remoteTask) awaitResume(ctx workflow.Context, f wording.Failure) contract.ApprovalResult {
	defer t.work.Pause(ctx)()
	return t.leaf.awaitResume(ctx, t.call, f)
}

// passRate does what a rate limit demands. The time does not count as work.
func (t *remoteTask) passRate(ctx workflow.Context, r rates.Refusal) *contract.CallToolResult {
	defer t.work.Pause(ctx)()
	return t.leaf.passRate(ctx, &t.call, r)
}

// askRepeatSend asks a person about a message of unknown outcome, and about a destructive one
// that was approved and did not reach the agent. The time does not count as work.
func (t *remoteTask) askRepeatSend(ctx workflow.Context, in contract.DelegateInput, f wording.Failure, describe func(why string) string) (r contract.ApprovalResult, asked bool) {
	defer t.work.Pause(ctx)()
	c := contract.Call{Destructive: in.Destructive}
	switch {
	case doubt.MayHaveRun(ctx, c, f) && in.Decision != "":
		ask := t.leaf.outcomeApproval(ctx, t.call, describe(f.Message))
		r = *t.leaf.runApproval(ctx, &ask, nil)
		t.useApproverToken(r)
		return r, true
	case doubt.MayHaveRun(ctx, c, f):
		return t.leaf.askOutcome(ctx, t.call, describe(f.Message)), true
	case in.Decision == "" && t.call.Destructive && decide.NotReached(c, f) && !t.leaf.node.SkipApproval && doubt.TakesAnswers(ctx):
		return t.leaf.ask(ctx, t.call, t.leaf.describeNotReached(ctx, t.call.Call, f.Message), contract.ReasonNotReached), true
	}
	return r, false
}

// declinedError is the failure of a message that a person has declined to send again.
type declinedError struct {
	error
	decision contract.ApprovalResult
}

func (d *declinedError) Unwrap() error { return d.error }

// follow polls a task that works: at once the first time, because the activity itself waits a
// little for changes, then at decreasing frequency. An agent that is not reachable is polled
// again.
func (t *remoteTask) follow(ctx workflow.Context) error {
	if t.polls++; t.polls > 1 {
		pause := min(decide.PollInterval(t.work.Elapsed(ctx), run.History(ctx)), max(t.timeLeft(ctx), time.Second))
		o := workflow.TimerOptions{Summary: wording.WorkTimerSummary(t.call.Peer.Name)}
		if workflow.NewTimerWithOptions(ctx, pause, o).Get(ctx, nil) != nil {
			return nil // the turn has ended; the last known state remains
		}
	}
	out, err := t.poll(ctx)
	if err == nil && pausesForLogin(ctx, out.Login) {
		return t.awaitLogin(ctx, *out.Login)
	}
	t.pollProblem = t.pollFailure(out, err)
	if err != nil && (ctx.Err() != nil || !activity.Failure(err).Kind.Permanent()) {
		return nil
	}
	return t.update(out, err)
}

func (t *remoteTask) needsInput() bool { return t.last.State == contract.TaskInputRequired }

// asksLogin reports whether a call of the other agent waits until somebody has logged in there,
// after which the task goes on by itself.
func (t *remoteTask) asksLogin(ctx workflow.Context) bool {
	asks := t.last.State == contract.TaskAuthRequired && t.last.Asked != nil && t.last.Asked.Reason == contract.ReasonLogin
	return asks && !t.unfollowed && workflow.GetVersion(ctx, changeLogin, workflow.DefaultVersion, 1) == 1
}

// timeLeft returns how long the task may still work.
func (t *remoteTask) timeLeft(ctx workflow.Context) time.Duration {
	return t.call.Peer.Patience() - t.work.Elapsed(ctx)
}

func (t *remoteTask) poll(ctx workflow.Context) (contract.DelegateResult, error) {
	return t.send(ctx, contract.DelegateInput{}, lookTimeout, activity.Attempts)
}

// update stores the state of the task.
func (t *remoteTask) update(out contract.DelegateResult, err error) error {
	if err == nil {
		out.TaskID, out.ContextID, out.Anew = cmp.Or(out.TaskID, t.last.TaskID), cmp.Or(out.ContextID, t.last.ContextID), out.Anew || t.last.Anew
		t.last = out
	}
	return err
}

// send runs the activity that sends a message about the task.
func (t *remoteTask) send(ctx workflow.Context, in contract.DelegateInput, timeout time.Duration, maximum int32) (contract.DelegateResult, error) {
	in = t.withTask(in)
	ctx = header.With(ctx, t.token())
	return activity.Run(ctx, contract.ActivityDelegate, activity.Options(timeout, maximum, wording.DelegateSummary(in)), in)
}

// withTask sets the fields that all messages about the task have.
func (t *remoteTask) withTask(in contract.DelegateInput) contract.DelegateInput {
	a := t.leaf.parent.origin()
	in.ConversationID, in.SessionID, in.Peer = a.conversation, a.session, *t.call.Peer
	in.Chain = append(slices.Clone(a.chain), a.agent.Name)
	in.TaskID, in.ContextID = t.last.TaskID, t.last.ContextID
	return in
}

// loginOutcome returns the outcome if the other agent requires the user to log in. The task is
// cancelled: after the login the user sends the message again, and a second task would do the
// work twice.
func (t *remoteTask) loginOutcome(ctx workflow.Context) callOutcome {
	name := t.call.Peer.Name
	m := callOutcome{
		CallToolResult: contract.CallToolResult{Text: t.last.Text, IsError: true, AuthRequired: name, Note: t.last.Note},
		login:          cmp.Or(t.last.Text.Short(), wording.TaskAuthRequired(name)),
	}
	if t.last.TaskID != "" && !t.unfollowed && cancelsEndedTasks(ctx) {
		m.Note = strings.TrimSpace(m.Note + " " + t.notifyPeer(ctx, t.cancellation()))
	}
	return m
}

// failureText returns why the task is abandoned.
func (t *remoteTask) failureText(err error) string {
	f := activity.Failure(err)
	if temporal.IsCanceledError(err) {
		f.Message = wording.CauseTurnCancelled
		if t.leaf.clock.Expired {
			f.Message = wording.CauseTimeUp
		}
	}
	text := wording.DelegationFailure(f)
	if d := new(declinedError); errors.As(err, &d) && d.decision.Decision == contract.Rejected {
		text = strings.TrimSpace(text + " " + d.decision.ReasonText())
	}
	return text
}

// abandon cancels the task, if there is one, and returns the outcome.
func (t *remoteTask) abandon(ctx workflow.Context, why string) callOutcome {
	m := callOutcome{CallToolResult: contract.CallToolResult{Text: contract.Inline(why), IsError: true}}
	if t.last.TaskID != "" && (!t.unfollowed || t.polls > 0) {
		m.Note = t.notifyPeer(ctx, t.cancellation())
	}
	return m
}

func (t *remoteTask) cancellation() contract.DelegateInput {
	return contract.DelegateInput{Cancel: true, MessageID: contract.NameUUID(t.call.message, "cancel")}
}

// answerID returns the ID of the message that answers the task's last question.
func (t *remoteTask) answerID() string {
	return contract.NameUUID(t.call.message, fmt.Sprintf("answer-%d", t.approvals))
}

// answerClaim identifies an answer by its question. After a reset, an agent that does not
// deduplicate messages has created another task, whose question is unanswered.
func (t *remoteTask) answerClaim() string {
	return contract.NameUUID(t.leaf.scope+"\n"+t.call.Peer.Name+"\n"+t.last.TaskID, fmt.Sprintf("answer-%d", t.approvals))
}
