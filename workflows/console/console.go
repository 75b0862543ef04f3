package console

import (
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/wording"
)

// Show makes workflow details show commands for the server at address. Details are not
// part of a history but produced for each request, so the address is right even after the
// server has moved.
func Show(address string) interceptor.WorkerInterceptor { return &worker{address: address} }

type worker struct {
	interceptor.WorkerInterceptorBase
	address string
}

func (w *worker) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	return &inbound{interceptor.WorkflowInboundInterceptorBase{Next: next}, w.address}
}

type inbound struct {
	interceptor.WorkflowInboundInterceptorBase
	address string
}

type addressKey struct{}

func (i *inbound) ExecuteWorkflow(ctx workflow.Context, in *interceptor.ExecuteWorkflowInput) (any, error) {
	return i.Next.ExecuteWorkflow(workflow.WithValue(ctx, addressKey{}, i.address), in)
}

// Of returns the console of a workflow's server.
func Of(ctx workflow.Context) wording.Console {
	address, _ := ctx.Value(addressKey{}).(string)
	return wording.Console{Address: address, Namespace: workflow.GetInfo(ctx).Namespace}
}
