package workflows

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

var (
	attrAgentName      = temporal.NewSearchAttributeKeyKeyword(contract.AttrAgentName)
	attrConversationID = temporal.NewSearchAttributeKeyKeyword(contract.AttrConversationID)
	attrStatus         = temporal.NewSearchAttributeKeyKeyword(contract.AttrConversationStatus)
	attrSessionID      = temporal.NewSearchAttributeKeyKeyword(contract.AttrSessionID)
	attrToolName       = temporal.NewSearchAttributeKeyKeyword(contract.AttrToolName)
	attrPendingSince   = temporal.NewSearchAttributeKeyTime(contract.AttrPendingSince)
	attrTaskState      = temporal.NewSearchAttributeKeyKeyword(contract.AttrTaskState)
	attrConfigHash     = temporal.NewSearchAttributeKeyKeyword(contract.AttrConfigHash)
)

// ask stops the leaf until a human has decided about a call. The approval is
// announced only once its workflow has started, so that no decision can come
// too early.
func (l *leaf) ask(ctx workflow.Context, c call, description string, reason contract.Reason) contract.ApprovalResult {
	return l.await(ctx, l.approvalFor(ctx, c, description, reason))
}

func (l *leaf) approvalFor(ctx workflow.Context, c call, description string, reason contract.Reason) contract.ApprovalInput {
	a := l.about()
	return contract.ApprovalInput{
		UUID: newUUID(ctx), ConversationID: a.conversation, SessionID: a.session, AgentName: a.agent.Name,
		NodePath: l.path, Node: l.node.Name, Tool: c.Name, Server: c.Server, Arguments: c.Arguments, ArgumentsSHA256: c.SHA256,
		Description: description, Reason: reason, CreatedAt: now(ctx), Timeout: a.agent.ApprovalTimeout, Call: c.message,
		Binding: bindingOf(c.Call),
	}
}

// bindingOf is where a call goes. A delegation goes where the conversation's own agent
// says, whatever the configuration is by now.
func bindingOf(c contract.Call) *contract.Binding {
	if c.Peer != nil {
		return &contract.Binding{Address: contract.PublicURL(c.Peer.URL)}
	}
	return c.Binding
}

// await runs an approval and returns the decision. The call that it is about goes with
// the token of who approves it, where the agent wants that.
func (l *leaf) await(ctx workflow.Context, in contract.ApprovalInput) contract.ApprovalResult {
	r := l.awaitAlone(ctx, in)
	l.actAs(in, r)
	return r
}

// awaitAlone is await for what is about no call of ours.
func (l *leaf) awaitAlone(ctx workflow.Context, in contract.ApprovalInput) contract.ApprovalResult {
	return l.awaitUnless(ctx, in, func() string { return "" })
}

// awaitUnless is awaitAlone for an approval that may be withdrawn by ending its context
// alone: withdrawn says why, once it is.
func (l *leaf) awaitUnless(ctx workflow.Context, in contract.ApprovalInput, withdrawn func() string) contract.ApprovalResult {
	defer l.clock.pause(ctx)()
	l.reset.reach(ctx, "ask "+l.next(), l.about().conversation)
	in.Description = l.worded(ctx, in.Description, wording.Shown(in))
	child := workflow.ExecuteChildWorkflow(approvalOptions(ctx, in, l.about()), contract.WorkflowApproval, in)
	l.reset.adopt(ctx, contract.ApprovalWorkflowID(in.UUID), in.ConversationID, child)
	result := contract.ApprovalResult{
		UUID: in.UUID, ConversationID: in.ConversationID, Tool: in.Tool, ArgumentsSHA256: in.ArgumentsSHA256,
		Decision: contract.Cancelled, RequestedAt: in.CreatedAt,
	}
	err := child.GetChildWorkflowExecution().Get(ctx, nil)
	if err == nil && ctx.Err() == nil {
		l.announce(ctx, in)
	}
	if err == nil {
		err = child.Get(ctx, &result)
	}
	if err != nil { // withdrawn before it started, or ended by an operator's hand
		result.DecidedAt, result.Reason = now(ctx), failure(err).Message
		logDecision(ctx, in, result)
	}
	if why := withdrawn(); why != "" && result.Decision == contract.Cancelled {
		result.Reason = why
	}
	l.conclusion(ctx, in, result)
	return result
}

func (l *leaf) announce(ctx workflow.Context, in contract.ApprovalInput) {
	l.state.Status, l.state.Approvals = contract.NodeWaiting, append(l.state.Approvals, in.UUID)
	l.append(ctx, contract.Message{Role: contract.RoleAssistant, Content: l.requestFor(in), Notice: true, ApprovalID: in.UUID})
	l.opened(ctx, l, in)
}

// requestFor is the message that asks for an approval.
func (l *leaf) requestFor(in contract.ApprovalInput) contract.Text {
	return contract.Inline(wording.RequestText(in.Pending(), l.inTree))
}

// conclusion records a decision.
func (l *leaf) conclusion(ctx workflow.Context, in contract.ApprovalInput, r contract.ApprovalResult) {
	r.Content = contract.JSON{} // it is for the server that asked
	if l.state.Approvals = without(l.state.Approvals, r.UUID); len(l.state.Approvals) == 0 {
		l.state.Status = contract.NodeRunning
	}
	record := r
	record.Credential = ""
	l.append(ctx, contract.Message{
		Role: contract.RoleUser, Content: contract.Inline(wording.Marker(in.Pending(), r)), Approval: &record, Notice: true,
		Node: l.nameInTree(),
	})
	l.decided(ctx, l, r)
}

// changeReason marks histories in which the reply to a rejection says why. Its length may
// decide when messages are folded.
const changeReason = "reason-of-rejection"

// recordedReason returns a decision with the reason of a rejection, where the history
// has it in the reply.
func recordedReason(ctx workflow.Context, r contract.ApprovalResult) contract.ApprovalResult {
	if r.Decision == contract.Rejected && r.Reason != "" && workflow.GetVersion(ctx, changeReason, workflow.DefaultVersion, 1) < 1 {
		r.Reason = ""
	}
	return r
}

func approvalOptions(ctx workflow.Context, in contract.ApprovalInput, a about) workflow.Context {
	options := workflow.ChildWorkflowOptions{
		WorkflowID:            contract.ApprovalWorkflowID(in.UUID),
		ParentClosePolicy:     enumspb.PARENT_CLOSE_POLICY_REQUEST_CANCEL,
		WaitForCancellation:   true,
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		StaticSummary:         wording.ApprovalSummary(in),
		TypedSearchAttributes: temporal.NewSearchAttributes(
			attrAgentName.ValueSet(in.AgentName),
			attrConversationID.ValueSet(in.ConversationID),
			attrSessionID.ValueSet(in.SessionID),
			attrToolName.ValueSet(in.Tool),
			attrPendingSince.ValueSet(in.CreatedAt),
			attrConfigHash.ValueSet(a.configHash),
		),
		Memo: map[string]any{
			contract.MemoCard: wording.Card(in), contract.MemoCallAs: cmp.Or(a.agent.CallAs, contract.CallAsRequester),
		},
	}
	if in.Pending().TakesContent() { // for the gateway, which reads answers by it
		options.Memo[contract.MemoSchema] = in.Schema
	}
	return workflow.WithChildOptions(ctx, options)
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
