package workflows

import (
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/approval"
	"agent-stop-and-go/workflows/catalogue"
	"agent-stop-and-go/workflows/contract"
	names "agent-stop-and-go/workflows/contract/deletion"
	"agent-stop-and-go/workflows/contract/deputy"
	"agent-stop-and-go/workflows/deletion"
	"agent-stop-and-go/workflows/deputies"
	"agent-stop-and-go/workflows/push"
)

// Registry is what workflows are registered with: a worker, a replayer, or a
// test environment.
type Registry interface {
	RegisterWorkflowWithOptions(w any, o workflow.RegisterOptions)
}

// Register registers every workflow under its wire name.
func Register(r Registry) {
	for name, w := range map[string]any{
		contract.WorkflowConversation: Conversation,
		contract.WorkflowApproval:     approval.Approval,
		contract.WorkflowCatalogue:    catalogue.Catalogue,
		contract.WorkflowSequential:   Sequential,
		contract.WorkflowParallel:     Parallel,
		contract.WorkflowLoop:         Loop,
		contract.WorkflowPush:         push.Push,
		contract.WorkflowDelivery:     Delivery,
		deputy.Workflow:               deputies.Deputies,
		names.Workflow:                deletion.Deletion,
		names.WorkflowUpkeep:          deletion.Upkeep,
	} {
		r.RegisterWorkflowWithOptions(w, workflow.RegisterOptions{Name: name})
	}
}
