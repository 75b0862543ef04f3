package workflows

import (
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/choice"
	"agent-stop-and-go/workflows/contract/delegation"
	"agent-stop-and-go/workflows/contract/title"
	"agent-stop-and-go/workflows/proof"
	"agent-stop-and-go/workflows/run"
	"agent-stop-and-go/workflows/telemetry"
	"agent-stop-and-go/workflows/wording"
)

// turn answers one message. If the root is a leaf it runs here, with the turn as its parent; a
// composite root is a workflow of its own (pipeline.go). Cancelling the turn's context stops it
// at the next step.
type turn struct {
	conv       *conversation
	cancel     workflow.CancelFunc
	requests   []string // settled when the turn next pauses or ends
	credential string   // the requester's sealed token
	question   contract.Message
	// transferred are the calls that the turn begins with, if its message is in the transcript.
	transferred contract.JSON
	turnOrigin  origin
	pipeline    *pipeline
	leaf        *leaf // of an agent that is a single node
	accounted   bool  // the usage of the tree is counted
	replied     bool  // the reply only has to be published
	stopped     bool
	joins       int // messages that brought a token
	stopReason  string
	stoppedBy   contract.Identity
	trace       *telemetry.TurnTrace
}

// run answers the message.
func (t *turn) run(ctx workflow.Context, m contract.MessageSignal) {
	ctx, root := t.begin(ctx, &m)
	var r contract.NodeResult
	if root.Composite() {
		r = t.runPipeline(ctx, root, &m)
	} else {
		r = t.runLeaf(ctx, root, &m)
	}
	t.end(ctx, &r)
}

// begin records the message and what the turn knows of it, and returns the node that answers.
func (t *turn) begin(ctx workflow.Context, m *contract.MessageSignal) (workflow.Context, *contract.Node) {
	ctx, t.trace = telemetry.StartTurn(ctx, t.conv.in, t.conv.state.Turn, m.RequestID)
	t.transferred, t.conv.state.Transferred = t.conv.state.Transferred, contract.JSON{}
	if t.transferred.IsZero() {
		t.conv.append(ctx, contract.Message{Role: contract.RoleUser, Content: m.Text, Preface: m.Preface, Media: m.Media, DraftID: m.Name, Model: m.Model, Identity: proof.Author(m.Identity), Echo: m.Echo})
	}
	t.question = t.conv.state.Transcript.Tail[len(t.conv.state.Transcript.Tail)-1]
	t.turnOrigin = origin{
		conversation: t.conv.in.ID, session: t.conv.in.SessionID, owner: t.conv.in.Owner, agent: t.conv.in.Agent, configHash: t.conv.in.Agent.Hash(),
		clientTools: m.Tools, chain: t.conv.in.Chain, caller: callerOf(*m),
	}
	t.conv.state.Tree = &contract.NodeState{}
	t.conv.setStatus(ctx, t.conv.status)
	if c := t.conv; c.state.Turn == 1 && c.in.First == nil && c.state.Title == nil {
		c.listing.SetTitle(title.Of(*m)) // else the caller, or somebody, has named it
	}
	t.conv.updateListing(ctx)
	t.conv.show(ctx)
	root := choice.Root(&t.conv.state, t.conv.in.Agent, *m)
	return ctx, &root
}

// end records and publishes the reply.
func (t *turn) end(ctx workflow.Context, r *contract.NodeResult) {
	result := t.recordReply(ctx, *r)
	t.replied = true
	done := run.Detached(ctx)
	t.recordEnd(done, *r, result)
	t.conv.settle(done, t.requests, result)
	t.trace.End(ctx, t.outcome(*r), r.Worked)
}

// runLeaf runs an agent that is a single node.
func (t *turn) runLeaf(ctx workflow.Context, root *contract.Node, m *contract.MessageSignal) contract.NodeResult {
	l := &leaf{
		parent: t, journal: t.conv.journal(), node: *root, state: t.conv.state.Tree, credential: t.credential, reset: &t.conv.reset, transferred: t.transferred, toolChoice: m.ToolChoice,
		scope:  contract.TurnWorkflowID(t.conv.in.ID, t.conv.state.Turn),
		values: contract.State{{Key: contract.KeyUserMessage, Text: m.Text}},
	}
	book := delegation.Open(delegation.Dialogues{List: t.conv.state.Dialogues})
	t.leaf, l.dialogues = l, book.Page(nil, false)
	r := l.run(ctx, root.Timeout)
	t.conv.state.Dialogues = book.List()
	t.account(r)
	t.conv.state.Summary = l.journal.summary
	return r
}

// account adds the usage and grants of the tree to the conversation.
func (t *turn) account(r contract.NodeResult) {
	t.accounted = true
	t.conv.state.Usage = t.conv.state.Usage.Add(r.Usage)
	t.conv.state.Worked += r.Worked
	t.conv.state.Granted = t.conv.state.Granted.Add(r.Granted.Conversation)
}

// recordReply derives the reply from the result of the tree, and writes it unless the nodes
// have written it already.
func (t *turn) recordReply(ctx workflow.Context, r contract.NodeResult) contract.Result {
	result := contract.Result{Response: r.Output, AuthRequired: r.AuthRequired != ""}
	switch {
	case t.stopped:
		result.Response = contract.Inline(wording.TurnCancelled(t.stopReason))
	case t.pipeline != nil && r.Outcome == contract.OutcomeRejected:
		result.Response = contract.Inline(wording.AfterRejectedNode(t.conv.in.Agent.Root(), r))
	case t.pipeline != nil && !t.pipeline.broken && !r.Output.IsZero():
		return result
	case result.Response.IsZero():
		result.Response = contract.Inline(wording.TextNoOutput)
	}
	m := contract.Message{Role: contract.RoleAssistant, Content: result.Response, Node: t.conv.in.Agent.Node, Outcome: t.outcome(r), Identity: proof.Author(t.stoppedBy)}
	if t.leaf != nil && r.Outcome == contract.OutcomeDone && !t.stopped {
		m = t.leaf.withReplyData(m)
	}
	t.conv.append(ctx, m)
	return result
}

// outcome returns the outcome of the turn. A stopped turn is cancelled, whatever the outcome of
// its nodes.
func (t *turn) outcome(r contract.NodeResult) contract.Outcome {
	if t.stopped {
		return contract.OutcomeCancelled
	}
	return r.Outcome
}

// stop ends the turn early.
func (t *turn) stop(reason string, by contract.Identity) {
	t.stopped, t.stopReason, t.stoppedBy = true, reason, by
	t.cancel()
}

func (t *turn) origin() origin { return t.turnOrigin }

func (t *turn) consumption(workflow.Context, *leaf) contract.Consumption {
	return t.consumptionBefore()
}

// consumptionBefore returns the consumption before the turn.
func (t *turn) consumptionBefore() contract.Consumption {
	return contract.Consumption{Conversation: contract.Used{
		Usage: t.conv.state.Usage, Time: t.conv.state.Worked, Granted: t.conv.state.Granted,
	}}
}

func (t *turn) refresh(workflow.Context) {}

// addApproval settles the requests that led to the approval. The waiting approval is their
// answer.
func (t *turn) addApproval(ctx workflow.Context, l *leaf, in contract.ApprovalInput) {
	t.conv.pending = append(t.conv.pending, openApproval{PendingApproval: in.Pending()})
	t.trace.Wait(ctx, t.conv.pendingApprovals())
	ctx = run.Detached(ctx)
	t.conv.setStatus(ctx, contract.StatusWaitingApproval)
	requests := t.requests
	t.requests = nil
	t.conv.settle(ctx, requests, t.conv.waitingFor(len(t.conv.pending)-1, l.requestFor(in)))
}

// removeApproval records the request that brought a decision. It is answered when the turn next
// pauses or ends.
func (t *turn) removeApproval(ctx workflow.Context, _ *leaf, r contract.ApprovalResult) {
	t.noteDecision(r)
	t.dropPending(func(p openApproval) bool { return p.UUID == r.UUID })
	t.trace.Wait(ctx, t.conv.pendingApprovals())
	ctx = run.Detached(ctx)
	switch {
	case len(t.conv.pending) == 0:
		t.conv.setStatus(ctx, contract.StatusActive)
	case !t.stopped: // another approval still waits: the answer to the decision
		requests := t.requests
		t.requests = nil
		t.conv.settle(ctx, requests, t.waitingResult(nil))
	}
	t.conv.show(ctx)
}

func (t *turn) noteDecision(r contract.ApprovalResult) {
	if r.RequestID != "" && (t.conv.takeAnswer(r) || t.conv.ledger.Add(r.RequestID, "")) {
		t.requests = append(t.requests, r.RequestID)
	}
}

// adopt takes over a configuration. In a turn only a single node does, beside approvals that it was compared with.
func (c *conversation) adopt(ctx workflow.Context) {
	next, t := c.adoption.Next(ctx, c.in.Agent), c.turn
	if next == nil || t != nil && (t.leaf == nil || len(c.pending) == 0 || next.Root().Type != t.leaf.node.Type || !c.adoption.Checked(ctx, c.pendingApprovals())) {
		return
	}
	choice.Forget(&c.state, c.queue, *next)
	if t != nil {
		t.turnOrigin.agent, t.turnOrigin.configHash, t.leaf.node, t.leaf.modelIndex = *next, next.Hash(), choice.Agent(*next, c.state.TurnModel).Root(), 0
	}
	c.in.Agent = *next
	c.adoption.Done(ctx, &c.state)
}
