package workflows

import (
	"crypto/rand"
	"encoding/hex"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/decide"
)

var (
	attrAgentName      = temporal.NewSearchAttributeKeyKeyword(contract.AttrAgentName)
	attrConversationID = temporal.NewSearchAttributeKeyKeyword(contract.AttrConversationID)
	attrStatus         = temporal.NewSearchAttributeKeyKeyword(contract.AttrConversationStatus)
	attrSessionID      = temporal.NewSearchAttributeKeyKeyword(contract.AttrSessionID)
	attrToolName       = temporal.NewSearchAttributeKeyKeyword(contract.AttrToolName)
	attrPendingSince   = temporal.NewSearchAttributeKeyTime(contract.AttrPendingSince)
	attrConfigHash     = temporal.NewSearchAttributeKeyKeyword(contract.AttrConfigHash)
)

// ask stops the turn until a human has decided about a call. The approval is
// announced only once its workflow has started, so that no decision can come
// too early. Meanwhile the requests behind the turn have their answer: that an
// approval waits.
func (t *turn) ask(ctx workflow.Context, c call, description string, reason contract.Reason) contract.ApprovalResult {
	in := contract.ApprovalInput{
		UUID: newUUID(ctx), ConversationID: t.in.ID, SessionID: t.in.SessionID, AgentName: t.in.Agent.Name,
		Node: t.in.Agent.Node, Tool: c.Name, Server: c.Server, Arguments: c.Arguments, ArgumentsSHA256: c.SHA256,
		Description: description, Reason: reason, CreatedAt: now(ctx), Timeout: t.in.Agent.ApprovalTimeout,
	}
	child := workflow.ExecuteChildWorkflow(t.approvalOptions(ctx, in), contract.WorkflowApproval, in)
	result := contract.ApprovalResult{
		UUID: in.UUID, ConversationID: t.in.ID, Tool: c.Name, ArgumentsSHA256: c.SHA256,
		Decision: contract.Cancelled, RequestedAt: in.CreatedAt,
	}
	err := child.GetChildWorkflowExecution().Get(ctx, nil)
	if err == nil && !t.stopped {
		t.announce(ctx, in)
	}
	if err == nil {
		err = child.Get(ctx, &result)
	}
	if err != nil { // withdrawn before it started, or ended by an operator's hand
		result.DecidedAt, result.Reason = now(ctx), failure(err).Message
	}
	t.decided(ctx, result)
	return result
}

func (t *turn) approvalOptions(ctx workflow.Context, in contract.ApprovalInput) workflow.Context {
	return workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID:            contract.ApprovalWorkflowID(in.UUID),
		ParentClosePolicy:     enumspb.PARENT_CLOSE_POLICY_REQUEST_CANCEL,
		WaitForCancellation:   true,
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		StaticSummary:         decide.ToolSummary(in.Tool, in.Server) + " waits for an approval",
		TypedSearchAttributes: temporal.NewSearchAttributes(
			attrAgentName.ValueSet(in.AgentName),
			attrConversationID.ValueSet(in.ConversationID),
			attrSessionID.ValueSet(in.SessionID),
			attrToolName.ValueSet(in.Tool),
			attrPendingSince.ValueSet(in.CreatedAt),
			attrConfigHash.ValueSet(t.in.Agent.Hash()),
		),
	})
}

// announce makes the approval visible everywhere and releases the requests that
// led to it.
func (t *turn) announce(ctx workflow.Context, in contract.ApprovalInput) {
	text := contract.Inline(decide.ApprovalRequest(in.Description, in.UUID))
	pending := in.Pending()
	t.pending = append(t.pending, pending)
	t.append(ctx, contract.Message{Role: contract.RoleAssistant, Content: text, Notice: true})
	ctx, _ = workflow.NewDisconnectedContext(ctx)
	t.setStatus(ctx, contract.StatusWaitingApproval)
	requests := t.requests
	t.requests = nil
	t.settle(ctx, requests, contract.Result{Response: text, WaitingApproval: true, Approval: &pending})
}

// decided records the decision. The request that brought it is answered when
// the turn next pauses or ends.
func (t *turn) decided(ctx workflow.Context, r contract.ApprovalResult) {
	if r.Credential != "" {
		t.credential = r.Credential
	}
	if r.RequestID != "" && t.ledger.Add(r.RequestID, "") {
		t.requests = append(t.requests, r.RequestID)
	}
	r.Credential = ""
	t.pending = without(t.pending, r.UUID)
	t.append(ctx, contract.Message{
		Role: contract.RoleUser, Content: contract.Inline(decide.ApprovalMarker(r.Decision)), Approval: &r, Notice: true,
	})
	if len(t.pending) == 0 {
		ctx, _ = workflow.NewDisconnectedContext(ctx)
		t.setStatus(ctx, contract.StatusActive)
	}
	t.show(ctx)
}

// newUUID is random: who holds an approval's UUID can answer it.
func newUUID(ctx workflow.Context) string {
	var space string
	encoded := workflow.SideEffect(ctx, func(workflow.Context) any {
		var b [16]byte
		_, _ = rand.Read(b[:]) // never fails, see crypto/rand.Read
		return hex.EncodeToString(b[:])
	})
	if err := encoded.Get(&space); err != nil { // a string can be decoded
		panic(err)
	}
	return contract.NameUUID(space, "approval")
}
