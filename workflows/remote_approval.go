package workflows

import (
	"errors"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/activity"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/decide"
	"agent-stop-and-go/workflows/doubt"
	"agent-stop-and-go/workflows/run"
	"agent-stop-and-go/workflows/wording"
)

// askApproval lets a person decide the task's request, and sends the decision. A refusal ends
// the delegation. If it was decided elsewhere meanwhile, the delegation continues from the new
// state: an approval given here may refer to something outdated.
func (t *remoteTask) askApproval(ctx workflow.Context) (refused *callOutcome, err error) {
	t.approvals++
	t.polls = 0
	answer := contract.DelegateInput{MessageID: t.answerID(), Claim: t.answerClaim(), Asked: t.last.Asked, Question: decide.Question(t.last)}
	r, news := t.awaitDecision(ctx)
	switch {
	case ctx.Err() != nil && !t.unfollowed:
		why := wording.AfterRefusal(doubt.Recorded(ctx, r))
		if r.Decision == contract.Approved {
			why = t.failureText(ctx.Err())
		}
		m := t.abandon(ctx, why)
		return &m, nil
	case r.Decision != contract.Rejected && news != nil:
		return nil, t.update(*news, nil)
	case r.Decision != contract.Approved || ctx.Err() != nil:
		defer t.useApproverToken(r)()
		m := t.refuse(ctx, answer, r)
		return &m, nil
	}
	answer.Decision, answer.Content, answer.By, answer.Reason = contract.Approved, r.Content, r.By, r.Reason
	answer.Destructive = true
	defer t.useApproverToken(r)()
	return nil, t.approve(ctx, answer)
}

// approve sends an approval to the agent. If the agent does not receive it, the approval is
// asked again: the agent must not be sent the opposite later.
func (t *remoteTask) approve(ctx workflow.Context, answer contract.DelegateInput) error {
	t.deliveryProblem = ""
	request, question := t.approvalDescription(ctx), t.last
	ran, err := t.sendWithRepeats(ctx, ctx, answer, func(why string) string {
		agent := t.call.Peer.Name
		return t.leaf.chooseWording(ctx, wording.DescribeUnknownAnswerEarlier(agent, request, why), wording.DescribeUnknownAnswer(agent, request, why))
	})
	stopped := new(declinedError)
	if err == nil && ran == nil {
		t.pollProblem = t.pollFailure(t.last, nil)
	}
	if ran != nil || err == nil && t.pollProblem == "" {
		t.answered = &question
	}
	switch {
	case ran != nil: // the agent has received it
		t.last.State = contract.TaskWorking
		return nil
	case err == nil || ctx.Err() != nil || temporal.IsCanceledError(err) || errors.As(err, &stopped) || !doubt.TakesAnswers(ctx):
		return err
	}
	t.deliveryProblem = activity.Failure(err).Message
	return nil
}

// awaitDecision waits for the decision, and polls the task meanwhile. The time does not count
// as work.
func (t *remoteTask) awaitDecision(ctx workflow.Context) (r contract.ApprovalResult, news *contract.DelegateResult) {
	defer t.work.Pause(ctx)()
	waiting, stop := workflow.WithCancel(ctx)
	if !t.unfollowed {
		workflow.Go(waiting, func(ctx workflow.Context) {
			news = t.pollWhileWaiting(ctx)
			stop()
		})
	}
	in := t.approvalInput(ctx)
	r = *t.leaf.runApproval(waiting, &in, func() string {
		if news == nil {
			return ""
		}
		return wording.DecidedElsewhere(t.call.Peer.Name, news.State)
	})
	stop()
	return r, news
}

// pollWhileWaiting polls a waiting task at decreasing frequency until it does not wait for the
// same thing any more. It returns nil if the context ends first.
func (t *remoteTask) pollWhileWaiting(ctx workflow.Context) *contract.DelegateResult {
	began := workflow.Now(ctx)
	o := workflow.TimerOptions{Summary: wording.WatchTimerSummary(t.call.Peer.Name)}
	for {
		pause := decide.WaitingPollInterval(workflow.Now(ctx).Sub(began), run.History(ctx))
		if workflow.NewTimerWithOptions(ctx, pause, o).Get(ctx, nil) != nil {
			return nil
		}
		out, err := t.poll(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil && t.isNewRequest(ctx, out):
			return &out
		}
	}
}

// isNewRequest reports whether the task waits for something else, or not at all.
func (t *remoteTask) isNewRequest(ctx workflow.Context, out contract.DelegateResult) bool {
	news, was := !decide.SameQuestion(t.last, out), !decide.SameRequest(t.last, out)
	if news != was && !cancelsEndedTasks(ctx) {
		return was
	}
	return news
}

// approvalInput returns the approval for the task's request.
func (t *remoteTask) approvalInput(ctx workflow.Context) contract.ApprovalInput {
	peer, asked := t.call.Peer.Name, t.last.Asked
	in := t.leaf.approvalFor(ctx, t.call, t.approvalDescription(ctx), contract.ReasonRemote)
	in.RemoteTaskID, in.RemoteAgent, in.Origin, in.Continues = t.last.TaskID, peer, asked, t.thread.Continued(t.last.Anew)
	if t.last.Text.Blob != nil {
		in.Explanation = t.last.Text
	}
	if asked != nil {
		in.Schema, in.Accepts = asked.Schema, asked.Accepts
	}
	return in
}

func (t *remoteTask) approvalDescription(ctx workflow.Context) string {
	text := wording.DescribeProxy(t.call.Peer.Name, t.leaf.nameInTree(), t.leaf.setApart(ctx, t.last.Text), t.leaf.parent.origin().agent.Name, t.last.Asked)
	switch {
	case t.deliveryProblem != "":
		return wording.DescribeUndelivered(t.call.Peer.Name, text, t.deliveryProblem)
	case t.answered != nil && decide.SameQuestion(*t.answered, t.last):
		return wording.DescribeRepeatedQuestion(t.call.Peer.Name, text)
	}
	return text
}

// refuse sends a rejection to the other agent, so that its task does not wait for ever.
func (t *remoteTask) refuse(ctx workflow.Context, answer contract.DelegateInput, r contract.ApprovalResult) callOutcome {
	why := wording.AfterRefusal(doubt.Recorded(ctx, r))
	m := callOutcome{CallToolResult: contract.CallToolResult{Text: contract.Inline(why), IsError: true}, refused: why}
	answer.Decision, answer.By, answer.Reason = contract.Rejected, r.By, r.Reason
	if r.Decision != contract.Rejected && doubt.TakesAnswers(ctx) { // no person has rejected it
		answer = t.cancellation()
	}
	m.Note = t.notifyPeer(ctx, answer)
	if r.Decision == contract.Approved { // the turn was cancelled after the approval
		m.refused = ""
	}
	return m
}
