package workflows

import (
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

// turn answers one message. A root that is a leaf works right here, with the
// turn as its host; a composite one is a workflow of its own (pipeline.go).
// Cancelling the turn's context stops it at the next step.
type turn struct {
	*conversation
	cancel     workflow.CancelFunc
	requests   []string // that get the answer when the turn next pauses or ends
	credential string   // the sealed token of who asked
	question   contract.Message
	origin     about
	pipeline   *pipeline
	leaf       *leaf // of an agent that is a single node
	accounted  bool  // the conversation has taken over what the tree has spent
	over       bool  // the reply is there; it only has to be published
	stopped    bool
	why        string
}

func (t *turn) run(ctx workflow.Context, m contract.MessageSignal) {
	t.append(ctx, contract.Message{Role: contract.RoleUser, Content: m.Text, Preface: m.Preface, Media: m.Media, Draft: m.Name})
	t.question = t.state.Transcript.Tail[len(t.state.Transcript.Tail)-1]
	t.origin = about{conversation: t.in.ID, session: t.in.SessionID, agent: t.in.Agent, configHash: t.in.Agent.Hash(), clientTools: m.Tools, chain: t.in.Chain}
	t.state.Tree = &contract.NodeState{}
	t.setStatus(ctx, t.status)
	t.setTitle(m)
	t.updateListing(ctx)
	t.show(ctx)
	var r contract.NodeResult
	if root := t.in.Agent.Root(); root.Composite() {
		r = t.runPipeline(ctx, root)
	} else {
		r = t.runLeaf(ctx, root, m)
	}
	result := t.reply(ctx, r)
	t.over = true
	done, _ := workflow.NewDisconnectedContext(ctx)
	t.conclude(done, r, result)
	t.settle(done, t.requests, result)
}

// runLeaf runs an agent that is a single node.
func (t *turn) runLeaf(ctx workflow.Context, root contract.Node, m contract.MessageSignal) contract.NodeResult {
	l := &leaf{
		host: t, journal: t.journal(), node: root, state: t.state.Tree, credential: t.credential, reset: &t.reset,
		scope:  contract.TurnWorkflowID(t.in.ID, t.state.Turn),
		values: contract.State{{Key: contract.KeyUserMessage, Text: m.Text}},
	}
	t.leaf = l
	r := l.run(ctx, root.Timeout)
	t.account(r)
	t.state.Digest = l.digest
	return r
}

// account takes over what the tree has spent and been granted.
func (t *turn) account(r contract.NodeResult) {
	t.accounted = true
	t.state.Usage = t.state.Usage.Add(r.Usage)
	t.state.Worked += r.Worked
	t.state.Granted = t.state.Granted.Add(r.Granted.Conversation)
}

// reply makes the answer to the user of what the tree came to, and records it
// unless the nodes have said it already.
func (t *turn) reply(ctx workflow.Context, r contract.NodeResult) contract.Result {
	result := contract.Result{Response: r.Output, AuthRequired: r.AuthRequired != ""}
	switch {
	case t.stopped:
		result.Response = contract.Inline(wording.TurnCancelled(t.why))
	case t.pipeline != nil && r.Outcome == contract.OutcomeRejected:
		result.Response = contract.Inline(wording.AfterRejectedNode(t.in.Agent.Root(), r))
	case t.pipeline != nil && !t.pipeline.broken && !r.Output.IsZero():
		return result
	case result.Response.IsZero():
		result.Response = contract.Inline(wording.TextNoOutput)
	}
	m := contract.Message{Role: contract.RoleAssistant, Content: result.Response, Node: t.in.Agent.Node, Outcome: t.outcome(r)}
	if t.leaf != nil && r.Outcome == contract.OutcomeDone && !t.stopped {
		m = t.leaf.stamped(m)
	}
	t.append(ctx, m)
	return result
}

// outcome is that of the turn. One that was stopped is cancelled, whatever its nodes came to.
func (t *turn) outcome(r contract.NodeResult) contract.Outcome {
	if t.stopped {
		return contract.OutcomeCancelled
	}
	return r.Outcome
}

// stop ends the turn early.
func (t *turn) stop(reason string) {
	t.stopped, t.why = true, reason
	t.cancel()
}

func (t *turn) about() about { return t.origin }

func (t *turn) spent(workflow.Context, *leaf) contract.Spent { return t.spentBefore() }

// spentBefore is what was spent before the turn.
func (t *turn) spentBefore() contract.Spent {
	return contract.Spent{Conversation: contract.Outlay{
		Usage: t.state.Usage, Time: t.state.Worked, Granted: t.state.Granted,
	}}
}

func (t *turn) changed(workflow.Context) {}

// opened releases the requests that led to the approval: that it waits is their
// answer.
func (t *turn) opened(ctx workflow.Context, l *leaf, in contract.ApprovalInput) {
	t.pending = append(t.pending, openApproval{PendingApproval: in.Pending()})
	ctx, _ = workflow.NewDisconnectedContext(ctx)
	t.setStatus(ctx, contract.StatusWaitingApproval)
	requests := t.requests
	t.requests = nil
	t.settle(ctx, requests, t.waitingFor(len(t.pending)-1, l.requestFor(in)))
}

// decided notes the request that brought a decision. It is answered when the
// turn next pauses or ends.
func (t *turn) decided(ctx workflow.Context, _ *leaf, r contract.ApprovalResult) {
	t.noteDecision(r)
	t.dropPending(func(p openApproval) bool { return p.UUID == r.UUID })
	ctx, _ = workflow.NewDisconnectedContext(ctx)
	switch {
	case len(t.pending) == 0:
		t.setStatus(ctx, contract.StatusActive)
	case !t.stopped: // another one waits still, and that is the answer to the decision
		requests := t.requests
		t.requests = nil
		t.settle(ctx, requests, t.waitingResult(nil))
	}
	t.show(ctx)
}

func (t *turn) noteDecision(r contract.ApprovalResult) {
	if r.RequestID != "" && (t.answered(r) || t.ledger.Add(r.RequestID, "")) {
		t.requests = append(t.requests, r.RequestID)
	}
}
