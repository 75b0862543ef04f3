package workflows

import (
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

// startNode starts the workflow of a composite node. When the workflow around it
// ends or is cancelled, so is the node.
func startNode(ctx workflow.Context, id string, in contract.NodeInput) workflow.ChildWorkflowFuture {
	ctx = workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID:          id,
		ParentClosePolicy:   enumspb.PARENT_CLOSE_POLICY_REQUEST_CANCEL,
		WaitForCancellation: true,
		StaticSummary:       wording.NodeSummary(in.Node),
		TypedSearchAttributes: temporal.NewSearchAttributes(
			attrAgentName.ValueSet(in.Agent.Name),
			attrConversationID.ValueSet(in.ConversationID),
			attrSessionID.ValueSet(in.SessionID),
			attrConfigHash.ValueSet(in.ConfigHash),
		),
	})
	return workflow.ExecuteChildWorkflow(ctx, nodeWorkflows[in.Node.Type], in)
}

var nodeWorkflows = map[contract.NodeType]string{
	contract.NodeSequential: contract.WorkflowSequential,
	contract.NodeParallel:   contract.WorkflowParallel,
	contract.NodeLoop:       contract.WorkflowLoop,
}

// nodeResult waits for a node's workflow. One that ended without a result was
// stopped by an operator's hand, or there is a fault in it; its result has no
// Tree then.
func nodeResult(ctx workflow.Context, child workflow.ChildWorkflowFuture) contract.NodeResult {
	var r contract.NodeResult
	err := child.Get(ctx, &r)
	switch {
	case err == nil && r.Outcome == contract.OutcomeCancelled && ctx.Err() == nil: // by an operator's hand
		r.Outcome, r.Output = contract.OutcomeFailed, contract.Inline(wording.TextStopped)
		return r
	case err == nil:
		return r
	case ctx.Err() != nil:
		return ended(contract.OutcomeCancelled, wording.TextStopped)
	}
	return ended(contract.OutcomeFailed, wording.PipelineError(failure(err)))
}
