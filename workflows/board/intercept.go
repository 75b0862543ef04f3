package board

import (
	"context"

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
				b.end(string(r.GetTaskToken()), err == nil)
			}
		case *workflowservice.RespondWorkflowTaskFailedRequest:
			b.end(string(r.GetTaskToken()), false)
		case *workflowservice.TerminateWorkflowExecutionRequest:
			b.abandon(r.GetWorkflowExecution().GetWorkflowId())
		case *workflowservice.ResetWorkflowExecutionRequest:
			b.abandon(r.GetWorkflowExecution().GetWorkflowId())
		}
		if err == nil {
			b.begin(delivery(reply))
		}
		return err
	}
}

// delivery returns the workflow task in a reply, or nil.
func delivery(reply any) *workflowservice.PollWorkflowTaskQueueResponse {
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
	run := t.GetWorkflowExecution().GetRunId()
	b.drafts.Remove(run)
	b.tasks.Add(string(t.GetTaskToken()), task{run, t.GetStartedEventId()})
}

// end publishes what a workflow task has settled, if the server has accepted it.
func (b *Board) end(token string, accepted bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t, _ := b.tasks.Get(token)
	b.tasks.Remove(token)
	d, ok := b.drafts.Get(t.run)
	if !ok || d.number != t.number {
		return
	}
	b.drafts.Remove(t.run)
	if !accepted {
		return
	}
	for id, outcome := range d.outcomes {
		if e := b.expected[id]; e != nil {
			e.outcome = outcome
			e.notify()
		}
	}
}
