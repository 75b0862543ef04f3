package workflows_test

import (
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/hooks"
	"agent-stop-and-go/workflows/contract/switches"
)

// recorder records the commands of workflows.
type recorder struct {
	interceptor.WorkerInterceptorBase

	scheduled []scheduled
	statuses  []string // values given to the search attribute ConversationStatus
	children  []child  // approvals
	delivered []delivery
	states    []string // values given to the search attribute TaskState
	memos     []map[string]any
	nodes     []nodeStarted
	reports   []contract.NodeReport  // own reports of every node
	batches   []contract.NodeReports // that reached the conversation
	results   []contract.NodeResult  // of nodes

	// rollOver makes a node's run look long after the given number of activities and child
	// workflows; the test gives the conversation's run the length of a long node.
	rollOver  int
	continued int                  // runs of nodes that followed another
	carried   []contract.NodeInput // their inputs
	long      *workflow.Info

	upserts int // of search attributes

	decisions []string // lines log lines about decisions

	slow time.Duration // how long a report takes

	// SignalFn handles the signals between conversations and their Push, and those to the
	// Control.
	SignalFn func(workflowID, name string, arg any) error
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
	Total, Pace   time.Duration // of notifications: of all attempts, and between the last ones
}

// delivery is the workflow of a Delivery.
type delivery struct {
	ID, Summary string
	Abandoned   bool
	Input       contract.DelegateInput
}

type child struct {
	ID, Summary       string
	Attributes        temporal.SearchAttributes
	Memo              map[string]any
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
	commands int
}

// GetInfo gives a node's run the length of the conversation's, because the test environment has
// no setter for child workflows.
func (o *outbound) GetInfo(ctx workflow.Context) *workflow.Info {
	info := o.Next.GetInfo(ctx)
	switch {
	case info.WorkflowType.Name == contract.WorkflowConversation:
		o.recorder.long = info
	case o.recorder.rollOver > 0 && o.commands >= o.recorder.rollOver && o.recorder.long != nil:
		long := *o.recorder.long
		long.WorkflowExecution, long.WorkflowType = info.WorkflowExecution, info.WorkflowType
		long.ParentWorkflowExecution = info.ParentWorkflowExecution
		return &long
	}
	return info
}

// ExecuteWorkflow records the inputs and results of nodes.
func (i *inbound) ExecuteWorkflow(ctx workflow.Context, in *interceptor.ExecuteWorkflowInput) (any, error) {
	if node, ok := in.Args[0].(contract.NodeInput); ok && node.Carried != nil {
		i.recorder.continued++
		i.recorder.carried = append(i.recorder.carried, node)
	}
	workflow.GetInfo(ctx) // the conversation's, before anything asks for it
	out, err := i.Next.ExecuteWorkflow(ctx, in)
	if r, ok := out.(contract.NodeResult); ok && err == nil {
		i.recorder.results = append(i.recorder.results, r)
	}
	return out, err
}

func (o *outbound) ExecuteActivity(ctx workflow.Context, name string, args ...any) workflow.Future {
	o.commands++
	opts := workflow.GetActivityOptions(ctx)
	o.recorder.scheduled = append(o.recorder.scheduled, scheduled{
		Name: name, Summary: opts.Summary, Attempts: opts.RetryPolicy.MaximumAttempts, Timeout: opts.StartToCloseTimeout,
	})
	if name == contract.ActivityNotify.Name {
		last := &o.recorder.scheduled[len(o.recorder.scheduled)-1]
		last.Total, last.Pace = opts.ScheduleToCloseTimeout, opts.RetryPolicy.MaximumInterval
	}
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
	o.commands++
	opts := workflow.GetChildWorkflowOptions(ctx)
	if in, ok := args[0].(contract.NodeInput); ok {
		o.recorder.nodes = append(o.recorder.nodes, nodeStarted{ID: opts.WorkflowID, Type: name, Summary: opts.StaticSummary, Input: in})
		return o.Next.ExecuteChildWorkflow(ctx, name, args...)
	}
	if in, ok := args[0].(contract.DelegateInput); ok {
		o.recorder.delivered = append(o.recorder.delivered, delivery{
			ID: opts.WorkflowID, Summary: opts.StaticSummary, Input: in, Abandoned: opts.ParentClosePolicy == enumspb.PARENT_CLOSE_POLICY_ABANDON,
		})
		return o.Next.ExecuteChildWorkflow(ctx, name, args...)
	}
	if _, ok := args[0].(hooks.Input); ok {
		return o.Next.ExecuteChildWorkflow(ctx, name, args...)
	}
	o.recorder.children = append(o.recorder.children, child{
		ID: opts.WorkflowID, Summary: opts.StaticSummary, Attributes: opts.TypedSearchAttributes, Memo: opts.Memo,
		Input: args[0].(contract.ApprovalInput),
	})
	return o.Next.ExecuteChildWorkflow(ctx, name, args...)
}

func (o *outbound) SignalExternalWorkflow(ctx workflow.Context, workflowID, runID, name string, arg any) workflow.Future {
	if batch, ok := arg.(contract.NodeReports); ok {
		o.recorder.reports = append(o.recorder.reports, batch.Reports[0])
		if _, root := contract.ConversationIDOf(workflowID); root {
			o.recorder.batches = append(o.recorder.batches, batch)
		}
		if o.recorder.slow > 0 {
			return o.delayed(ctx, o.recorder.slow, func(ctx workflow.Context) workflow.Future {
				return o.Next.SignalExternalWorkflow(ctx, workflowID, runID, name, arg)
			})
		}
	}
	if o.recorder.SignalFn != nil && (name == contract.SignalFollow || name == contract.SignalTask || name == switches.SignalWait) {
		future, settable := workflow.NewFuture(ctx)
		settable.SetError(o.recorder.SignalFn(workflowID, name, arg))
		return future
	}
	return o.Next.SignalExternalWorkflow(ctx, workflowID, runID, name, arg)
}

// delayed carries out a command after a delay.
func (o *outbound) delayed(ctx workflow.Context, d time.Duration, give func(workflow.Context) workflow.Future) workflow.Future {
	future, settable := workflow.NewFuture(ctx)
	workflow.Go(ctx, func(ctx workflow.Context) {
		err := workflow.Sleep(ctx, d)
		if err == nil {
			err = give(ctx).Get(ctx, nil)
		}
		settable.Set(nil, err)
	})
	return future
}

func (o *outbound) UpsertTypedSearchAttributes(ctx workflow.Context, attributes ...temporal.SearchAttributeUpdate) error {
	set := temporal.NewSearchAttributes(attributes...)
	if v, ok := set.GetKeyword(temporal.NewSearchAttributeKeyKeyword(contract.AttrConversationStatus)); ok {
		o.recorder.statuses = append(o.recorder.statuses, v)
	}
	if v, ok := set.GetKeyword(temporal.NewSearchAttributeKeyKeyword(contract.AttrTaskState)); ok {
		o.recorder.states = append(o.recorder.states, v)
	}
	o.recorder.upserts++
	return o.Next.UpsertTypedSearchAttributes(ctx, attributes...)
}

func (o *outbound) UpsertMemo(ctx workflow.Context, memo map[string]any) error {
	o.recorder.memos = append(o.recorder.memos, memo)
	return o.Next.UpsertMemo(ctx, memo)
}

// childStarted checks that the conversation does not announce an approval before it has
// started.
func (s *session) childStarted(info *workflow.Info, _ workflow.Context, _ converter.EncodedValues) {
	if info.WorkflowType.Name != contract.WorkflowApproval {
		return
	}
	started := &s.seen.children[len(s.seen.children)-1]
	started.AnnouncedTooEarly = len(s.view().Pending) > 0
}

// all returns the options of every command that ran an activity.
func (r *recorder) all(name string) (out []scheduled) {
	for _, s := range r.scheduled {
		if s.Name == name {
			out = append(out, s)
		}
	}
	return out
}

// options returns the options of the last command that ran an activity.
func (r *recorder) options(name string) scheduled {
	for i := len(r.scheduled) - 1; i >= 0; i-- {
		if r.scheduled[i].Name == name {
			return r.scheduled[i]
		}
	}
	return scheduled{}
}
