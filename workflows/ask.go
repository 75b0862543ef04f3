package workflows

import (
	"cmp"
	"slices"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/activity"
	"agent-stop-and-go/workflows/approval"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/approvers"
	"agent-stop-and-go/workflows/credential/header"
	"agent-stop-and-go/workflows/run"
	"agent-stop-and-go/workflows/wording"
)

// ask stops the leaf until a person has decided about a call.
func (l *leaf) ask(ctx workflow.Context, c call, description string, reason contract.Reason) contract.ApprovalResult {
	in := l.approvalFor(ctx, c, description, reason)
	return *l.awaitApproval(ctx, &in)
}

func (l *leaf) approvalFor(ctx workflow.Context, c call, description string, reason contract.Reason) contract.ApprovalInput {
	in := l.approvalOf(ctx, c)
	in.UUID, in.Description, in.Reason, in.Call, in.Binding = run.NewUUID(ctx, "approval"), description, reason, c.message, approval.BindingOf(c.Call)
	if reason == contract.ReasonDestructive {
		in.Because, in.UUID = c.Because, run.OwnUUID(ctx, c.Approval, in.UUID)
	}
	if reason.RepeatsGrant() && c.Verdict.Asking() { // who approved the call decides about it again
		asks := c.Verdict.Asks
		in.Approvers = approvers.Required(asks[len(asks)-1], l.parent.origin().agent.Approvers)
	}
	return in
}

// approvalOf returns the fields that every approval of a call has.
func (l *leaf) approvalOf(ctx workflow.Context, c call) contract.ApprovalInput {
	a := l.parent.origin()
	return contract.ApprovalInput{
		ConversationID: a.conversation, SessionID: a.session, AgentName: a.agent.Name, Owner: a.owner,
		NodePath: l.path, Node: l.node.Name, Tool: c.Name, Server: c.Server, Arguments: c.Arguments, ArgumentsSHA256: c.SHA256,
		CreatedAt: run.Now(ctx), Timeout: a.agent.ApprovalTimeout, Audited: c.Audited, Continues: l.dialogues.Next(c.Peer),
	}
}

// awaitApproval runs an approval of a call and returns the decision. If the agent is configured
// so, the call uses the token of the person who approves it.
func (l *leaf) awaitApproval(ctx workflow.Context, in *contract.ApprovalInput) *contract.ApprovalResult {
	r := l.runApproval(ctx, in, nil)
	l.keepApproverToken(in, r)
	return r
}

// runApproval runs an approval and returns the decision. It completes in. One that may be withdrawn
// by ending ctx has withdrawn, which returns the reason then; it may be nil.
func (l *leaf) runApproval(ctx workflow.Context, in *contract.ApprovalInput, withdrawn func() string) *contract.ApprovalResult {
	defer l.clock.Pause(ctx)()
	child := l.startApproval(ctx, in)
	result := &contract.ApprovalResult{
		UUID: in.UUID, ConversationID: in.ConversationID, Tool: in.Tool, ArgumentsSHA256: in.ArgumentsSHA256,
		Decision: contract.Cancelled, RequestedAt: in.CreatedAt,
	}
	err := child.GetChildWorkflowExecution().Get(ctx, nil)
	if err == nil && ctx.Err() == nil {
		l.announce(ctx, in)
	}
	if err == nil {
		err = child.Get(ctx, result)
	}
	l.endApproval(ctx, in, result, err, withdrawn)
	return result
}

// startApproval completes an approval and starts it.
func (l *leaf) startApproval(ctx workflow.Context, in *contract.ApprovalInput) workflow.ChildWorkflowFuture {
	l.reset.Pass(ctx, "ask "+l.journal.nextID(), l.parent.origin().conversation)
	in.Description = approval.Continued(ctx, *in, l.chooseWording(ctx, in.Description, wording.Shown(*in)))
	if in.Approvers == nil {
		in.Approvers = l.parent.origin().agent.Approvers
	}
	in.Approvers, in.Webhooks = approvers.For(*in, in.Approvers), l.parent.origin().agent.Webhooks
	if in.Waits != nil { // for the lists of tools that need the caller's token
		ctx = header.With(ctx, l.credential)
	}
	child := workflow.ExecuteChildWorkflow(approval.Options(ctx, *in, l.parent.origin().configHash, l.parent.origin().agent.CallAs), contract.WorkflowApproval, *in)
	l.reset.CancelWithContext(ctx, contract.ApprovalWorkflowID(in.UUID), in.ConversationID, child)
	return child
}

// endApproval completes the result of an approval that has ended, perhaps with an error, and records it.
func (l *leaf) endApproval(ctx workflow.Context, in *contract.ApprovalInput, result *contract.ApprovalResult, err error, withdrawn func() string) {
	if err == nil {
		*result = result.Open()
	} else { // withdrawn before it started, or ended by an operator
		result.DecidedAt, result.Reason = run.Now(ctx), activity.Failure(err).Message
		approval.LogDecision(ctx, *in, *result)
	}
	if withdrawn != nil && result.Decision == contract.Cancelled {
		result.Reason = cmp.Or(withdrawn(), result.Reason)
	}
	l.recordDecision(ctx, *in, *result)
}

// announce publishes an approval. Its workflow has started, so that no decision can arrive too
// early.
func (l *leaf) announce(ctx workflow.Context, in *contract.ApprovalInput) {
	l.state.Status, l.state.Approvals = contract.NodeWaiting, append(l.state.Approvals, in.UUID)
	l.journal.append(ctx, contract.Message{Role: contract.RoleAssistant, Content: l.requestFor(*in), Notice: true, ApprovalID: in.UUID})
	l.parent.addApproval(ctx, l, *in)
}

// noteReminder tells the readers of the conversation that an approval of the leaf still waits, or that
// changed rules have judged its call.
func (l *leaf) noteReminder(ctx workflow.Context, q contract.QuestionSignal) bool {
	waits := slices.Contains(l.state.Approvals, q.UUID)
	if waits {
		l.journal.append(ctx, contract.Message{Role: contract.RoleAssistant, Content: contract.Inline(wording.Notice(q)), Notice: true, Reminds: q.UUID})
		l.parent.refresh(ctx)
	}
	return waits
}

// requestFor returns the text of the message that asks for an approval.
func (l *leaf) requestFor(in contract.ApprovalInput) contract.Text {
	return contract.Inline(wording.RequestText(in.Pending(), l.inTree))
}

// recordDecision writes a decision to the transcript.
func (l *leaf) recordDecision(ctx workflow.Context, in contract.ApprovalInput, r contract.ApprovalResult) {
	r.Content = contract.JSON{} // only for the server that asked
	if l.state.Approvals = slices.DeleteFunc(slices.Clone(l.state.Approvals), func(uuid string) bool { return uuid == r.UUID }); len(l.state.Approvals) == 0 {
		l.state.Status = contract.NodeRunning
	}
	record := r
	record.Credential = ""
	l.journal.append(ctx, contract.Message{
		Role: contract.RoleUser, Content: contract.Inline(wording.Marker(in.Pending(), r)), Approval: &record, Notice: true,
		Node: l.nameInTree(),
	})
	l.parent.removeApproval(ctx, l, r)
}
