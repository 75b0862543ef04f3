package workflows

import (
	"errors"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/decide"
	"agent-stop-and-go/workflows/wording"
)

// ask has a human here decide what the task asks, and tells the other agent. A
// refusal ends the delegation. When somebody else has decided meanwhile, the
// delegation goes on with that: what was approved here may be something else by now.
func (t *remoteTask) ask(ctx workflow.Context) (refused *made, err error) {
	t.asked++
	t.looked = 0
	answer := contract.DelegateInput{MessageID: t.answerID(), Claim: t.answerClaim(), Asked: t.known.Asked, Question: decide.Question(t.known)}
	r, news := t.awaitDecision(ctx)
	switch {
	case ctx.Err() != nil && !t.early:
		why := wording.AfterRefusal(recordedReason(ctx, r))
		if r.Decision == contract.Approved {
			why = t.trouble(ctx.Err())
		}
		m := t.leave(ctx, why)
		return &m, nil
	case r.Decision != contract.Rejected && news != nil:
		return nil, t.learn(*news, nil)
	case r.Decision != contract.Approved || ctx.Err() != nil:
		defer t.tellAs(r)()
		m := t.refuse(ctx, answer, r)
		return &m, nil
	}
	answer.Decision, answer.Content, answer.By, answer.Reason = contract.Approved, r.Content, r.By, r.Reason
	answer.Destructive = true
	defer t.tellAs(r)()
	return nil, t.approve(ctx, answer)
}

// approve tells the agent that what it asked for is approved. What the agent could not be
// told comes back as an approval: it must not hear the opposite when it is there again.
func (t *remoteTask) approve(ctx workflow.Context, answer contract.DelegateInput) error {
	t.untold = ""
	request := t.approvalDescription(ctx)
	ran, err := t.sendUntilKnown(ctx, ctx, answer, func(why string) string {
		agent := t.call.Peer.Name
		return t.worded(ctx, wording.DescribeUnknownAnswerEarlier(agent, request, why), wording.DescribeUnknownAnswer(agent, request, why))
	})
	stopped := new(declined)
	if err == nil && ran == nil {
		t.silent = t.silence(t.known, nil)
	}
	t.approved = t.approved || ran != nil || err == nil && t.silent == ""
	switch {
	case ran != nil: // the agent has heard of it
		t.known.State = contract.TaskWorking
		return nil
	case err == nil || ctx.Err() != nil || temporal.IsCanceledError(err) || errors.As(err, &stopped) || !answersDoubt(ctx):
		return err
	}
	t.untold = failure(err).Message
	return nil
}

// awaitDecision waits for the decision, and for news of the task beside it. The time
// does not count as work.
func (t *remoteTask) awaitDecision(ctx workflow.Context) (r contract.ApprovalResult, news *contract.DelegateResult) {
	defer t.work.pause(ctx)()
	waiting, stop := workflow.WithCancel(ctx)
	if !t.early {
		workflow.Go(waiting, func(ctx workflow.Context) {
			news = t.watch(ctx)
			stop()
		})
	}
	r = t.awaitUnless(waiting, t.approvalInput(ctx), func() string {
		if news == nil {
			return ""
		}
		return wording.DecidedElsewhere(t.call.Peer.Name, news.State)
	})
	stop()
	return r, news
}

// watch looks at a task that waits, ever more rarely, until it does not wait any
// more for the same thing. It returns nil when the context ends first.
func (t *remoteTask) watch(ctx workflow.Context) *contract.DelegateResult {
	began := workflow.Now(ctx)
	o := workflow.TimerOptions{Summary: wording.WatchTimerSummary(t.call.Peer.Name)}
	for {
		pause := decide.WatchPause(workflow.Now(ctx).Sub(began), t.history(ctx))
		if workflow.NewTimerWithOptions(ctx, pause, o).Get(ctx, nil) != nil {
			return nil
		}
		out, err := t.look(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil && t.isNews(ctx, out):
			return &out
		}
	}
}

// isNews reports whether a look shows that a task waits for something else, or not at all.
func (t *remoteTask) isNews(ctx workflow.Context, out contract.DelegateResult) bool {
	news, was := !decide.SameQuestion(t.known, out), !decide.SameRequest(t.known, out)
	if news != was && !endsTasks(ctx) {
		return was
	}
	return news
}

// approvalInput is the approval for what the task asks.
func (t *remoteTask) approvalInput(ctx workflow.Context) contract.ApprovalInput {
	peer, asked := t.call.Peer.Name, t.known.Asked
	in := t.approvalFor(ctx, t.call, t.approvalDescription(ctx), contract.ReasonRemote)
	in.RemoteTaskID, in.RemoteAgent, in.Origin = t.known.TaskID, peer, asked
	if t.known.Text.Blob != nil {
		in.Explanation = t.known.Text
	}
	if asked != nil {
		in.Schema, in.Accepts = asked.Schema, asked.Accepts
	}
	return in
}

func (t *remoteTask) approvalDescription(ctx workflow.Context) string {
	text := wording.DescribeProxy(t.call.Peer.Name, t.nameInTree(), t.apart(ctx, t.known.Text), t.about().agent.Name, t.known.Asked)
	if t.untold != "" {
		text = wording.DescribeNotTold(t.call.Peer.Name, text, t.untold)
	}
	return text
}

// refuse tells the other agent that what it asked for was not approved, so that it
// does not wait for ever.
func (t *remoteTask) refuse(ctx workflow.Context, answer contract.DelegateInput, r contract.ApprovalResult) made {
	why := wording.AfterRefusal(recordedReason(ctx, r))
	m := made{CallToolResult: contract.CallToolResult{Text: contract.Inline(why), IsError: true}, refused: why}
	answer.Decision, answer.By, answer.Reason = contract.Rejected, r.By, r.Reason
	if r.Decision != contract.Rejected && answersDoubt(ctx) { // nobody has rejected it
		answer = t.cancellation()
	}
	m.Note = t.tell(ctx, answer)
	if r.Decision == contract.Approved { // and then the turn was cancelled
		m.refused = ""
	}
	return m
}
