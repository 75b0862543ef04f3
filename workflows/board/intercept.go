package board

import (
	"context"
	"slices"

	commandpb "go.temporal.io/api/command/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
)

// Interceptor returns the interceptor of the connection of the worker and the gateway. It sees which
// workflow tasks the worker gets, and which the server has accepted.
func (b *Board) Interceptor() grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, o ...grpc.CallOption) error {
		err := invoke(ctx, method, req, reply, cc, o...)
		switch r := req.(type) {
		case *workflowservice.RespondWorkflowTaskCompletedRequest:
			if !r.GetIntermediatePage() {
				b.end(string(r.GetTaskToken()), err == nil, !ends(r.GetCommands()))
			}
		case *workflowservice.RespondWorkflowTaskFailedRequest:
			b.end(string(r.GetTaskToken()), false, false)
		case *workflowservice.TerminateWorkflowExecutionRequest:
			b.abandon(r.GetWorkflowExecution().GetWorkflowId())
		case *workflowservice.ResetWorkflowExecutionRequest:
			b.abandon(r.GetWorkflowExecution().GetWorkflowId())
		}
		if err == nil {
			b.begin(Delivery(reply))
		}
		return err
	}
}

// Delivery returns the workflow task that a reply delivers to a worker, or nil.
func Delivery(reply any) *workflowservice.PollWorkflowTaskQueueResponse {
	switch r := reply.(type) {
	case *workflowservice.PollWorkflowTaskQueueResponse:
		return r
	case *workflowservice.RespondWorkflowTaskCompletedResponse:
		return r.GetWorkflowTask()
	case *workflowservice.StartWorkflowExecutionResponse:
		return r.GetEagerWorkflowTask()
	}
	return nil
}

// begin notes a workflow task that the worker gets, unless it is a query. What an earlier task of its run
// has left is void.
func (b *Board) begin(t *workflowservice.PollWorkflowTaskQueueResponse) {
	if len(t.GetTaskToken()) == 0 || t.GetQuery() != nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	w := t.GetWorkflowExecution()
	b.drafts.Remove(w.GetRunId())
	b.tasks.Add(string(t.GetTaskToken()), delivered{task{w.GetRunId(), t.GetStartedEventId()}, b.changes(w.GetWorkflowId())})
}

// ends reports whether commands end a run.
func ends(commands []*commandpb.Command) bool {
	return slices.ContainsFunc(commands, func(c *commandpb.Command) bool {
		switch c.GetCommandType() {
		case enumspb.COMMAND_TYPE_COMPLETE_WORKFLOW_EXECUTION, enumspb.COMMAND_TYPE_FAIL_WORKFLOW_EXECUTION,
			enumspb.COMMAND_TYPE_CANCEL_WORKFLOW_EXECUTION, enumspb.COMMAND_TYPE_CONTINUE_AS_NEW_WORKFLOW_EXECUTION:
			return true
		}
		return false
	})
}

// end publishes what a workflow task has settled, if the server has accepted it. goesOn means that the
// run has not ended with it.
func (b *Board) end(token string, accepted, goesOn bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t, _ := b.tasks.Get(token)
	b.tasks.Remove(token)
	drafts, _ := b.drafts.Get(t.run)
	if len(drafts) == 0 || drafts[0].task != t.task {
		return
	}
	b.drafts.Remove(t.run)
	if !accepted {
		return
	}
	for _, p := range drafts {
		if e := b.expected[p.request]; e != nil {
			e.outcome = &posted{outcome: p.outcome}
			if p.current && goesOn {
				e.outcome.view = &View{t.changes, len(p.outcome)}
			}
			e.notify()
		}
		p.outcome = nil // its conversation keeps p
	}
}
