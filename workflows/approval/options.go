package approval

import (
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/attribute"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/redact"
	"agent-stop-and-go/workflows/wording"
)

// Options returns the context that starts an approval. The hash is that of the configuration, and
// callAs is contract.Agent.CallAs.
func Options(ctx workflow.Context, in contract.ApprovalInput, configHash string, callAs contract.CallAs) workflow.Context {
	return workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID:            contract.ApprovalWorkflowID(in.UUID),
		ParentClosePolicy:     enumspb.PARENT_CLOSE_POLICY_REQUEST_CANCEL,
		WaitForCancellation:   true,
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		StaticSummary:         wording.ApprovalSummary(in),
		TypedSearchAttributes: attribute.OfApproval(in, configHash),
		Memo:                  wording.ApprovalMemo(in, callAs),
	})
}

// BindingOf returns the target of a call. A delegation goes to the URL of the conversation's
// own agent definition, even if the configuration has changed since.
func BindingOf(c contract.Call) *contract.Binding {
	if c.Peer != nil {
		return &contract.Binding{Address: redact.URL(c.Peer.URL)}
	}
	return c.Binding
}
