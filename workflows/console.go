package workflows

import (
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/wording"
)

// ShowConsole makes workflow details show commands for the server at address. Details are not
// part of a history but produced for each request, so the address is right even after the
// server has moved.
func ShowConsole(address string) interceptor.WorkerInterceptor { return &console{address: address} }

type console struct {
	interceptor.WorkerInterceptorBase
	address string
}

func (c *console) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	return &consoleInbound{interceptor.WorkflowInboundInterceptorBase{Next: next}, c.address}
}

type consoleInbound struct {
	interceptor.WorkflowInboundInterceptorBase
	address string
}

type addressKey struct{}

func (i *consoleInbound) ExecuteWorkflow(ctx workflow.Context, in *interceptor.ExecuteWorkflowInput) (any, error) {
	return i.Next.ExecuteWorkflow(workflow.WithValue(ctx, addressKey{}, i.address), in)
}

func consoleOf(ctx workflow.Context) wording.Console {
	address, _ := ctx.Value(addressKey{}).(string)
	return wording.Console{Address: address, Namespace: workflow.GetInfo(ctx).Namespace}
}
