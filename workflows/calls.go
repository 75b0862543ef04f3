package workflows

import (
	"slices"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/decide"
)

// call is a call with the message that records it. The message's ID is the
// call's idempotency key: the same in every attempt, and in no other call.
type call struct {
	contract.Call
	message string
	reply   string
}

// record puts a reply that asks for calls into the transcript.
func (t *turn) record(ctx workflow.Context, reply contract.GenerateResult) []call {
	id := contract.MessageID(t.in.ID, t.state.Seq+1)
	if !reply.Text.IsZero() {
		t.append(ctx, contract.Message{Role: contract.RoleAssistant, Content: reply.Text, Reply: id})
	}
	calls := make([]call, len(reply.Calls))
	for i, c := range reply.Calls {
		message := t.append(ctx, contract.Message{
			Role: contract.RoleAssistant, Reply: id,
			ToolCall: &contract.ToolCall{ID: c.ID, Name: c.Name, Arguments: c.Arguments},
		})
		calls[i] = call{Call: c, message: message, reply: id}
	}
	return calls
}

// runAll runs the calls batch by batch and records their results. It returns
// the server that wants the caller to log in, if any; nothing runs after that,
// nor after the turn was stopped.
func (t *turn) runAll(ctx workflow.Context, calls []call, plan decide.Plan) (authRequired string) {
	for i, c := range calls {
		if r, ok := plan.Answered[i]; ok {
			t.recordResult(ctx, c, r)
		}
	}
	for _, batch := range plan.Batches {
		if t.stopped {
			return ""
		}
		for n, r := range t.runBatch(ctx, calls, batch) {
			t.recordResult(ctx, calls[batch[n]], r)
			if r.AuthRequired != "" {
				authRequired = r.AuthRequired
			}
		}
		if authRequired != "" {
			return authRequired
		}
	}
	return ""
}

func (t *turn) recordResult(ctx workflow.Context, c call, r contract.CallToolResult) {
	t.append(ctx, contract.Message{
		Role: contract.RoleTool, Reply: c.reply,
		ToolCall: &contract.ToolCall{ID: c.ID, Name: c.Name, Result: r.Text, IsError: r.IsError, Note: r.Note},
	})
}

// runBatch runs calls side by side; the results are in the order of the calls.
func (t *turn) runBatch(ctx workflow.Context, calls []call, batch []int) []contract.CallToolResult {
	if len(batch) == 1 {
		return []contract.CallToolResult{t.runOne(ctx, calls[batch[0]])}
	}
	results := make([]contract.CallToolResult, len(batch))
	group := workflow.NewWaitGroup(ctx)
	for n, i := range batch {
		group.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer group.Done()
			results[n] = t.runOne(ctx, calls[i])
		})
	}
	group.Wait(ctx)
	return results
}

// runOne runs a call. One whose answer was lost goes to a human, who may have
// it repeated.
func (t *turn) runOne(ctx workflow.Context, c call) contract.CallToolResult {
	for {
		r, err := t.callTool(withCredential(ctx, t.credential), c)
		if err == nil {
			return r
		}
		f := failure(err)
		if temporal.IsCanceledError(err) {
			f.Message = "the turn was cancelled"
		}
		if !decide.OutcomeUnknown(c.Call, f) {
			return decide.ToolFailure(f)
		}
		if t.stopped {
			return decide.UnknownResult(f.Message)
		}
		decision := t.ask(ctx, c, decide.DescribeUnknown(c.Call, f.Message), contract.ReasonUnknownOutcome)
		if decision.Decision != contract.Approved || t.stopped {
			return decide.UnknownResult(f.Message)
		}
	}
}

func (t *turn) callTool(ctx workflow.Context, c call) (contract.CallToolResult, error) {
	in := contract.CallToolInput{
		ConversationID: t.in.ID, SessionID: t.in.SessionID, Server: c.Server, Tool: c.Name,
		Arguments: c.Arguments, SHA256: c.SHA256, IdempotencyKey: c.message, Destructive: c.Destructive,
	}
	summary := decide.ToolSummary(c.Name, c.Server)
	switch {
	case c.Destructive: // one attempt, and seen through even when the turn is cancelled
		ctx, _ = workflow.NewDisconnectedContext(ctx)
		return run(ctx, contract.ActivityCallTool, regular(callToolTimeout, 1, summary), in)
	case t.in.Agent.Execution == contract.ExecutionLean:
		return runLocal(ctx, contract.ActivityCallTool, lean(callToolTimeout, summary), in)
	}
	return run(ctx, contract.ActivityCallTool, regular(callToolTimeout, attempts, summary), in)
}

func without(list []contract.PendingApproval, uuid string) []contract.PendingApproval {
	return slices.DeleteFunc(slices.Clone(list), func(p contract.PendingApproval) bool { return p.UUID == uuid })
}
