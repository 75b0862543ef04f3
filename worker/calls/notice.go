package calls

import (
	"context"

	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
)

// Interceptor is for the connection of a process that both makes calls and sends requests to
// conversations. A request that must not wait for a call hands it over. Updates do not: they
// wait for the end of a turn.
func (t *Table) Interceptor() grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, o ...grpc.CallOption) error {
		if id := receiver(req); id != "" {
			t.Release(id)
		}
		return invoke(ctx, method, req, reply, cc, o...)
	}
}

// receiver returns the ID of the workflow that needs a workflow task for a request, or "".
func receiver(req any) string {
	switch r := req.(type) {
	case *workflowservice.SignalWorkflowExecutionRequest:
		return r.GetWorkflowExecution().GetWorkflowId()
	case *workflowservice.RequestCancelWorkflowExecutionRequest:
		return r.GetWorkflowExecution().GetWorkflowId()
	case *workflowservice.QueryWorkflowRequest:
		return r.GetExecution().GetWorkflowId()
	}
	return ""
}
