package calls

import (
	"context"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/grpc"

	"agent-stop-and-go/workflows/board"
)

// Interceptor is for the frontend of a server in this process, which handles the requests of
// all clients: of the gateway, the Web UI and the temporal CLI. A request that needs a workflow
// task of a conversation, or ends its run, hands its calls over. Updates do not: they wait for
// the end of a turn.
func (w *WorkflowTasks) Interceptor() grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
		if id := receiver(req); id != "" {
			w.beginRequest(id)
			defer w.endRequest(id)
		}
		reply, err := handle(ctx, req)
		if p := board.Delivery(reply); p.GetStartedEventId() > 0 {
			run := p.GetWorkflowExecution()
			w.deliver(workflow.Execution{ID: run.GetWorkflowId(), RunID: run.GetRunId()}, int(p.GetStartedEventId()), p.GetStartedTime().AsTime())
			w.complete(run.GetRunId(), int(p.GetPreviousStartedEventId()))
		}
		return reply, err
	}
}

// receiver returns the ID of the workflow that needs a workflow task for a request, or "".
func receiver(req any) string {
	switch r := req.(type) {
	case *workflowservice.SignalWorkflowExecutionRequest:
		return r.GetWorkflowExecution().GetWorkflowId()
	case *workflowservice.SignalWithStartWorkflowExecutionRequest:
		return r.GetWorkflowId()
	case *workflowservice.RequestCancelWorkflowExecutionRequest:
		return r.GetWorkflowExecution().GetWorkflowId()
	case *workflowservice.TerminateWorkflowExecutionRequest:
		return r.GetWorkflowExecution().GetWorkflowId()
	case *workflowservice.ResetWorkflowExecutionRequest:
		return r.GetWorkflowExecution().GetWorkflowId()
	case *workflowservice.QueryWorkflowRequest:
		return r.GetExecution().GetWorkflowId()
	}
	return ""
}
