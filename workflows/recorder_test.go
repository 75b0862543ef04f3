package workflows_test

import (
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
)

// recorder sees the commands that workflows give.
type recorder struct {
	interceptor.WorkerInterceptorBase

	scheduled []scheduled
	statuses  []string // values given to the search attribute ConversationStatus
	children  []child  // approvals
	nodes     []nodeStarted
	reports   []contract.NodeReport
}

// nodeStarted is the workflow of a composite node.
type nodeStarted struct {
	ID, Type, Summary string
	Input             contract.NodeInput
}

type scheduled struct {
	Name, Summary string
	Local         bool
	Attempts      int32
	Timeout       time.Duration
}

type child struct {
	ID, Summary       string
	Attributes        temporal.SearchAttributes
	Input             contract.ApprovalInput
	AnnouncedTooEarly bool
}

func (r *recorder) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	in := &inbound{recorder: r}
	in.Next = next
	return in
}

type inbound struct {
	interceptor.WorkflowInboundInterceptorBase
	recorder *recorder
}

func (i *inbound) Init(out interceptor.WorkflowOutboundInterceptor) error {
	o := &outbound{recorder: i.recorder}
	o.Next = out
	return i.Next.Init(o)
}

type outbound struct {
	interceptor.WorkflowOutboundInterceptorBase
	recorder *recorder
}

func (o *outbound) ExecuteActivity(ctx workflow.Context, name string, args ...any) workflow.Future {
	opts := workflow.GetActivityOptions(ctx)
	o.recorder.scheduled = append(o.recorder.scheduled, scheduled{
		Name: name, Summary: opts.Summary, Attempts: opts.RetryPolicy.MaximumAttempts, Timeout: opts.StartToCloseTimeout,
	})
	return o.Next.ExecuteActivity(ctx, name, args...)
}

func (o *outbound) ExecuteLocalActivity(ctx workflow.Context, name string, args ...any) workflow.Future {
	opts := workflow.GetLocalActivityOptions(ctx)
	o.recorder.scheduled = append(o.recorder.scheduled, scheduled{
		Name: name, Summary: opts.Summary, Local: true, Attempts: opts.RetryPolicy.MaximumAttempts, Timeout: opts.StartToCloseTimeout,
	})
	return o.Next.ExecuteLocalActivity(ctx, name, args...)
}

func (o *outbound) ExecuteChildWorkflow(ctx workflow.Context, name string, args ...any) workflow.ChildWorkflowFuture {
	opts := workflow.GetChildWorkflowOptions(ctx)
	if in, ok := args[0].(contract.NodeInput); ok {
		o.recorder.nodes = append(o.recorder.nodes, nodeStarted{ID: opts.WorkflowID, Type: name, Summary: opts.StaticSummary, Input: in})
		return o.Next.ExecuteChildWorkflow(ctx, name, args...)
	}
	o.recorder.children = append(o.recorder.children, child{
		ID: opts.WorkflowID, Summary: opts.StaticSummary, Attributes: opts.TypedSearchAttributes,
		Input: args[0].(contract.ApprovalInput),
	})
	return o.Next.ExecuteChildWorkflow(ctx, name, args...)
}

func (o *outbound) SignalExternalWorkflow(ctx workflow.Context, workflowID, runID, name string, arg any) workflow.Future {
	if r, ok := arg.(contract.NodeReport); ok {
		o.recorder.reports = append(o.recorder.reports, r)
	}
	return o.Next.SignalExternalWorkflow(ctx, workflowID, runID, name, arg)
}

func (o *outbound) UpsertTypedSearchAttributes(ctx workflow.Context, attributes ...temporal.SearchAttributeUpdate) error {
	set := temporal.NewSearchAttributes(attributes...)
	if v, ok := set.GetKeyword(temporal.NewSearchAttributeKeyKeyword(contract.AttrConversationStatus)); ok {
		o.recorder.statuses = append(o.recorder.statuses, v)
	}
	return o.Next.UpsertTypedSearchAttributes(ctx, attributes...)
}

// childStarted looks whether the conversation speaks of an approval before
// there is one.
func (s *session) childStarted(info *workflow.Info, _ workflow.Context, _ converter.EncodedValues) {
	if info.WorkflowType.Name != contract.WorkflowApproval {
		return
	}
	started := &s.seen.children[len(s.seen.children)-1]
	started.AnnouncedTooEarly = len(s.view().Pending) > 0
}

// options are those of the last command that ran an activity.
func (r *recorder) options(name string) scheduled {
	for i := len(r.scheduled) - 1; i >= 0; i-- {
		if r.scheduled[i].Name == name {
			return r.scheduled[i]
		}
	}
	return scheduled{}
}
