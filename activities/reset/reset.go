package reset

import (
	"context"
	"errors"
	"fmt"
	"slices"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"

	"agent-stop-and-go/workflows/contract"
)

// Children are the workflows that a workflow has started.
type Children interface {
	// Pending returns the IDs of those that a run waits for.
	Pending(ctx context.Context, id, run string) ([]string, error)
	// Running returns the running ones that any run has started.
	Running(ctx context.Context, id string) ([]*commonpb.WorkflowExecution, error)
	Cancel(ctx context.Context, child *commonpb.WorkflowExecution) error
}

// Activities ends the children that runs before a reset have left.
type Activities struct {
	// Children defaults to the workflow's children in Temporal.
	Children Children
}

// Withdraw cancels the children of the calling workflow that the current run does not wait for,
// or one child alone. The run before the reset has started them. No run waits for them, and
// they would continue to make calls.
func (r *Activities) Withdraw(ctx context.Context, in contract.WithdrawInput) (out contract.WithdrawResult, err error) {
	children := r.Children
	info := activity.GetInfo(ctx)
	if children == nil {
		children = temporalChildren{activity.GetClient(ctx).WorkflowService(), info.Namespace}
	}
	if in.Child != "" {
		if err := children.Cancel(ctx, &commonpb.WorkflowExecution{WorkflowId: in.Child}); err != nil {
			return out, fmt.Errorf("cancel %s: %w", in.Child, err)
		}
		return contract.WithdrawResult{Workflows: []string{in.Child}}, nil
	}
	parent := info.WorkflowExecution
	// In this order, so that children started meanwhile are not in the list.
	running, err := children.Running(ctx, parent.ID)
	if err != nil {
		return out, fmt.Errorf("list what the runs have started: %w", err)
	}
	awaited, err := children.Pending(ctx, parent.ID, parent.RunID)
	if err != nil {
		return out, fmt.Errorf("read what the run waits for: %w", err)
	}
	for _, child := range running {
		if slices.Contains(awaited, child.GetWorkflowId()) {
			continue
		}
		if err := children.Cancel(ctx, child); err != nil {
			return out, fmt.Errorf("cancel %s: %w", child.GetWorkflowId(), err)
		}
		out.Workflows = append(out.Workflows, child.GetWorkflowId())
	}
	return out, nil
}

type temporalChildren struct {
	service   workflowservice.WorkflowServiceClient
	namespace string
}

func (t temporalChildren) Pending(ctx context.Context, id, run string) ([]string, error) {
	d, err := t.service.DescribeWorkflowExecution(ctx, &workflowservice.DescribeWorkflowExecutionRequest{
		Namespace: t.namespace, Execution: &commonpb.WorkflowExecution{WorkflowId: id, RunId: run},
	})
	var out []string
	for _, child := range d.GetPendingChildren() {
		out = append(out, child.GetWorkflowId())
	}
	return out, err
}

func (t temporalChildren) Running(ctx context.Context, id string) (out []*commonpb.WorkflowExecution, err error) {
	req := &workflowservice.ListWorkflowExecutionsRequest{
		Namespace: t.namespace, Query: fmt.Sprintf("ParentWorkflowId = '%s' AND ExecutionStatus = 'Running' AND WorkflowType != '%s'", id, contract.WorkflowDelivery),
	}
	for {
		page, err := t.service.ListWorkflowExecutions(ctx, req)
		if err != nil {
			return nil, err
		}
		for _, e := range page.GetExecutions() {
			out = append(out, e.GetExecution())
		}
		if req.NextPageToken = page.GetNextPageToken(); len(req.NextPageToken) == 0 {
			return out, nil
		}
	}
}

// Cancel ignores that a child has ended meanwhile, or is cancelled already.
func (t temporalChildren) Cancel(ctx context.Context, child *commonpb.WorkflowExecution) error {
	_, err := t.service.RequestCancelWorkflowExecution(ctx, &workflowservice.RequestCancelWorkflowExecutionRequest{
		Namespace: t.namespace, WorkflowExecution: child, Reason: "the workflow that started it was reset",
	})
	var gone *serviceerror.NotFound
	var asked *serviceerror.CancellationAlreadyRequested
	if errors.As(err, &gone) || errors.As(err, &asked) {
		return nil
	}
	return err
}
