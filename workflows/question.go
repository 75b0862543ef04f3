package workflows

import (
	"encoding/json"
	"slices"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/activity"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/decide"
	"agent-stop-and-go/workflows/run"
	"agent-stop-and-go/workflows/signal"
	"agent-stop-and-go/workflows/wording"
)

// askingCall is a running call whose server may ask a person. The activity that makes the call
// signals the question to the workflow, and waits for the decision of the approval that this
// opens.
type askingCall struct {
	leaf *leaf
	call call
	// ctx ends with the call, and when the leaf is stopped.
	ctx     workflow.Context
	attempt int32
	uuids   []string        // of all questions so far
	open    []*openQuestion // that wait for a person
}

type openQuestion struct{ cancel workflow.CancelFunc }

// callWithQuestions makes a call whose server may ask. It is never a local activity, because
// those delay signals. Questions that are open when the call ends are withdrawn.
func (l *leaf) callWithQuestions(ctx workflow.Context, c call, in contract.CallToolInput, summary string) (contract.CallToolResult, error) {
	asking, stop := workflow.WithCancel(ctx)
	f := &askingCall{leaf: l, call: c, ctx: asking}
	l.askingCalls = append(l.askingCalls, f)
	maximum := int32(activity.Attempts)
	if c.Destructive { // one attempt, completed even when the turn is cancelled
		ctx, maximum = run.Detached(ctx), 1
	}
	r, err := activity.Run(ctx, contract.ActivityCallTool, activity.Options(askingTimeout, maximum, summary), in)
	l.askingCalls = slices.DeleteFunc(l.askingCalls, func(other *askingCall) bool { return other == f })
	stop()
	// The context is never cancelled, so Await cannot fail.
	_ = workflow.Await(run.Detached(ctx), func() bool { return len(f.open) == 0 })
	return r, err
}

// ask opens an approval for a question and returns at once. Questions of an earlier attempt at
// the call are withdrawn: its worker is gone.
func (f *askingCall) ask(q contract.QuestionSignal) {
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
	open := &openQuestion{cancel}
	f.uuids, f.open = append(f.uuids, q.UUID), append(f.open, open)
	workflow.Go(ctx, func(ctx workflow.Context) {
		in := f.approvalFor(ctx, q)
		f.leaf.awaitApproval(ctx, &in)
		f.open = slices.DeleteFunc(f.open, func(other *openQuestion) bool { return other == open })
	})
}

// approvalFor returns the approval for a question. It expires no later than the call.
func (f *askingCall) approvalFor(ctx workflow.Context, q contract.QuestionSignal) contract.ApprovalInput {
	in := f.leaf.approvalOf(ctx, f.call)
	in.UUID, in.Schema, in.Accepts, in.Reason = q.UUID, q.Schema, q.Accepts, contract.ReasonQuestion
	in.Timeout = decide.Shorter(in.Timeout, contract.MaxQuestionTime)
	in.Description = wording.DescribeQuestion(f.call.Server, f.call.Name, f.leaf.setApart(ctx, q.Message))
	if q.Message.Blob != nil {
		in.Explanation = q.Message
	}
	return in
}

// routeQuestions passes questions to the calls that they belong to. A question of a call that
// is not running is dropped: its answer would not be used. It reports whether there was a reminder,
// which readers are to see at once.
func routeQuestions(ctx workflow.Context, ch workflow.ReceiveChannel, leaves ...*leaf) (reminded bool) {
	for raw, ok := signal.Receive(ch); ok; raw, ok = signal.Receive(ch) {
		var q contract.QuestionSignal
		if err := json.Unmarshal(raw, &q); err != nil || !contract.IsUUID(q.UUID) {
			workflow.GetLogger(ctx).Warn("a question was not understood", "error", err)
			continue
		}
		for _, l := range leaves {
			reminded = (q.Reminder != nil || q.Judgement != nil) && l.noteReminder(ctx, q) || reminded
			for _, f := range l.askingCalls {
				if f.call.message == q.Call {
					f.ask(q)
				}
			}
		}
	}
	return reminded
}
