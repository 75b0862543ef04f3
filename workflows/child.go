package workflows

import (
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/activity"
	"agent-stop-and-go/workflows/attribute"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

// startNode starts the workflow of a composite node. It ends with its parent workflow.
func startNode(ctx workflow.Context, id string, in contract.NodeInput) workflow.ChildWorkflowFuture {
	ctx = workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID:          id,
		ParentClosePolicy:   enumspb.PARENT_CLOSE_POLICY_REQUEST_CANCEL,
		WaitForCancellation: true,
		StaticSummary:       wording.NodeSummary(in.Node),
		TypedSearchAttributes: temporal.NewSearchAttributes(
			attribute.AgentName.ValueSet(in.Agent.Name),
			attribute.ConversationID.ValueSet(in.ConversationID),
			attribute.SessionID.ValueSet(in.SessionID),
			attribute.ConfigHash.ValueSet(in.ConfigHash),
		),
	})
	return workflow.ExecuteChildWorkflow(ctx, nodeWorkflows[in.Node.Type], in)
}

var nodeWorkflows = map[contract.NodeType]string{
	contract.NodeSequential: contract.WorkflowSequential,
	contract.NodeParallel:   contract.WorkflowParallel,
	contract.NodeLoop:       contract.WorkflowLoop,
}

// nodeResult waits for a node's workflow. If that ended without a result, an operator has ended
// it, or it has a bug; the result has no Tree then.
func nodeResult(ctx workflow.Context, child workflow.ChildWorkflowFuture) contract.NodeResult {
	var r contract.NodeResult
	err := child.Get(ctx, &r)
	switch {
	case err == nil && r.Outcome == contract.OutcomeCancelled && ctx.Err() == nil: // by an operator
		r.Outcome, r.Output = contract.OutcomeFailed, contract.Inline(wording.TextStopped)
		return r
	case err == nil:
		return r
	case ctx.Err() != nil:
		return endedWith(contract.OutcomeCancelled, wording.TextStopped)
	}
	return endedWith(contract.OutcomeFailed, wording.PipelineError(activity.Failure(err)))
}
