package workflows

import (
	"encoding/json"
	"slices"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/decide"
	"agent-stop-and-go/workflows/wording"
)

// flight is a call under way whose server may ask a person something. The activity
// that makes the call sends the question as a signal to the workflow, and waits
// for what the approval that this opens comes to.
type flight struct {
	leaf *leaf
	call call
	// ctx ends with the call, and when the leaf is stopped.
	ctx     workflow.Context
	attempt int32
	uuids   []string            // of all questions so far
	open    []*workflowQuestion // that wait for a person
}

type workflowQuestion struct{ cancel workflow.CancelFunc }

// callAsking makes a call whose server may ask. It is never a local activity: those
// hold the workflow up. Questions that are open when the call ends are withdrawn.
func (l *leaf) callAsking(ctx workflow.Context, c call, in contract.CallToolInput, summary string) (contract.CallToolResult, error) {
	asking, stop := workflow.WithCancel(ctx)
	f := &flight{leaf: l, call: c, ctx: asking}
	l.flights = append(l.flights, f)
	maximum := int32(attempts)
	if c.Destructive { // one attempt, and seen through even when the turn is cancelled
		ctx, maximum = detached(ctx), 1
	}
	r, err := run(ctx, contract.ActivityCallTool, regular(askingTimeout, maximum, summary), in)
	l.flights = slices.DeleteFunc(l.flights, func(other *flight) bool { return other == f })
	stop()
	// The context is never cancelled, so Await cannot fail.
	_ = workflow.Await(detached(ctx), func() bool { return len(f.open) == 0 })
	return r, err
}

// ask has a person answer a question. It does not wait. Questions of an earlier
// attempt at the call are withdrawn: its worker is gone.
func (f *flight) ask(q contract.QuestionSignal) {
	if slices.Contains(f.uuids, q.UUID) || q.Attempt < f.attempt || f.ctx.Err() != nil {
		return
	}
	if q.Attempt > f.attempt {
		f.attempt = q.Attempt
		for _, old := range f.open {
			old.cancel()
		}
	}
	ctx, cancel := workflow.WithCancel(f.ctx)
	open := &workflowQuestion{cancel}
	f.uuids, f.open = append(f.uuids, q.UUID), append(f.open, open)
	workflow.Go(ctx, func(ctx workflow.Context) {
		f.leaf.await(ctx, f.approvalFor(ctx, q))
		f.open = slices.DeleteFunc(f.open, func(other *workflowQuestion) bool { return other == open })
	})
}

// approvalFor is the approval that waits for the answer. It does not wait longer
// than the call may.
func (f *flight) approvalFor(ctx workflow.Context, q contract.QuestionSignal) contract.ApprovalInput {
	l, a := f.leaf, f.leaf.about()
	in := contract.ApprovalInput{
		UUID: q.UUID, ConversationID: a.conversation, SessionID: a.session, AgentName: a.agent.Name,
		NodePath: l.path, Node: l.node.Name, Tool: f.call.Name, Server: f.call.Server,
		Arguments: f.call.Arguments, ArgumentsSHA256: f.call.SHA256,
		Description: wording.DescribeQuestion(f.call.Server, f.call.Name, l.apart(ctx, q.Message)), Reason: contract.ReasonQuestion,
		CreatedAt: now(ctx), Timeout: decide.Shorter(a.agent.ApprovalTimeout, contract.MaxQuestionTime), Schema: q.Schema, Accepts: q.Accepts,
	}
	if q.Message.Blob != nil {
		in.Explanation = q.Message
	}
	return in
}

// takeQuestions hands questions to the calls that they belong to. One of a call
// that is not under way has nobody left who waits for the answer.
func takeQuestions(ctx workflow.Context, ch workflow.ReceiveChannel, leaves ...*leaf) {
	for raw, ok := receive(ch); ok; raw, ok = receive(ch) {
		var q contract.QuestionSignal
		if err := json.Unmarshal(raw, &q); err != nil || !contract.IsUUID(q.UUID) {
			workflow.GetLogger(ctx).Warn("a question was not understood", "error", err)
			continue
		}
		for _, l := range leaves {
			for _, f := range l.flights {
				if f.call.message == q.Call {
					f.ask(q)
				}
			}
		}
	}
}
