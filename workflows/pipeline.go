package workflows

import (
	"slices"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/decide"
)

// pipeline is a turn's composite root at work: a child workflow, and what it and
// the nodes inside it have reported.
type pipeline struct {
	run     string // the root's workflow ID
	inbox   []contract.NodeReport
	reports map[string]contract.NodeReport // by workflow ID, the latest of each
}

// runPipeline runs a composite root. Reports are dealt with as they come.
func (t *turn) runPipeline(ctx workflow.Context, root contract.Node) contract.NodeResult {
	always, _ := workflow.NewDisconnectedContext(ctx)
	t.foldTranscript(always)
	in := t.nodeInput(root)
	p := &pipeline{
		run:     contract.NodeWorkflowID(contract.TurnWorkflowID(t.in.ID, t.state.Turn), root.Name, 0),
		reports: map[string]contract.NodeReport{},
	}
	t.pipeline = p
	*t.state.Tree = contract.NodeState{Status: contract.NodeRunning, Run: p.run, StartedAt: now(ctx)}
	child := startNode(withCredential(ctx, t.credential), p.run, in)
	for !child.IsReady() || len(p.inbox) > 0 {
		if len(p.inbox) == 0 {
			// The context is never cancelled, so Await cannot fail.
			_ = workflow.Await(always, func() bool { return child.IsReady() || len(p.inbox) > 0 })
			continue
		}
		r := p.inbox[0]
		p.inbox = p.inbox[1:]
		t.takeReport(always, r)
	}
	return t.endPipeline(always, nodeResult(ctx, child))
}

func (t *turn) nodeInput(root contract.Node) contract.NodeInput {
	agent := t.in.Agent
	agent.Prompt, agent.Tree, agent.Peers = contract.Text{}, nil, nil
	in := contract.NodeInput{
		ConversationID: t.in.ID, SessionID: t.in.SessionID, Agent: agent, ConfigHash: t.in.Agent.Hash(),
		Turn: t.state.Turn, Path: []int{}, Node: root, User: t.state.Transcript.Tail[len(t.state.Transcript.Tail)-1],
		Credential: t.credential, Budget: root.Timeout,
	}
	if root.WantsHistory() {
		history := copyOf(t.state.Transcript)
		in.History = &history
	}
	return in
}

// foldTranscript keeps the conversation's tail short. Agents that are a single
// node leave that to their model calls. The last message stays in the tail.
func (t *turn) foldTranscript(ctx workflow.Context) {
	if !long(t.state.Transcript) {
		return
	}
	tail := t.state.Transcript.Tail
	older := contract.Transcript{Head: t.state.Transcript.Head, Tail: tail[:len(tail)-1]}
	if out, ok := foldAway(ctx, contract.FoldInput{Transcript: older}); ok {
		fold(&t.state.Transcript, out.Folded)
	}
}

// takeReport makes visible what a node reports, and answers the requests that
// waited for it.
func (t *turn) takeReport(ctx workflow.Context, r contract.NodeReport) {
	if last, ok := t.pipeline.reports[r.Run]; ok && last.Seq >= r.Seq {
		return
	}
	t.pipeline.reports[r.Run] = r
	waited := len(t.pending) > 0
	var fresh *contract.OpenApproval
	for i, o := range r.Open {
		if !slices.ContainsFunc(t.pending, func(p openApproval) bool { return p.UUID == o.Approval.UUID }) {
			t.pending = append(t.pending, openApproval{PendingApproval: o.Approval, run: r.Run, pipeline: &r.Open[i].Pipeline})
			fresh = &r.Open[i]
		}
	}
	t.pending = slices.DeleteFunc(slices.Clone(t.pending), func(p openApproval) bool {
		return p.run == r.Run && !slices.ContainsFunc(r.Open, func(o contract.OpenApproval) bool { return o.Approval.UUID == p.UUID })
	})
	for _, d := range r.Decided {
		t.noteDecision(d)
	}
	t.state.UpdatedAt = now(ctx)
	switch {
	case len(t.pending) > 0:
		t.setStatus(ctx, contract.StatusWaitingApproval)
		requests := t.requests
		t.requests = nil
		t.settle(ctx, requests, t.waitingResult(fresh))
	case waited:
		t.setStatus(ctx, contract.StatusActive)
		t.show(ctx)
	}
}

// waitingResult answers who asked or decided while approvals wait: with the one
// that has just opened, else with the first.
func (t *turn) waitingResult(fresh *contract.OpenApproval) contract.Result {
	for i, p := range t.pending {
		if fresh != nil && p.UUID == fresh.Approval.UUID {
			return t.waitingFor(i, fresh.Request)
		}
	}
	first := t.pending[0]
	return t.waitingFor(0, contract.Inline(decide.ApprovalRequest(first.Description, first.UUID, true)))
}

// endPipeline takes over what the root leaves behind.
func (t *turn) endPipeline(ctx workflow.Context, r contract.NodeResult) contract.NodeResult {
	p := t.pipeline
	if r.Tree.Status == "" { // it ended without a result: its reports are what there is
		r.Transcript, r.Tree = p.transcript(p.run), t.treeState()
		finish(ctx, &r.Tree, r)
	}
	r.Transcript = p.filled(r.Transcript)
	if r.Credential != "" {
		t.credential = r.Credential
	}
	absorb(&t.state.Transcript, p.run, r.Transcript)
	t.state.Usage = t.state.Usage.Add(r.Usage)
	t.state.Tree = &r.Tree
	t.pending, p.reports = nil, nil
	t.setStatus(ctx, contract.StatusActive)
	return r
}

// transcript is what a running node and those inside it have reported.
func (p *pipeline) transcript(run string) contract.Transcript {
	r, ok := p.reports[run]
	if !ok {
		return contract.Transcript{}
	}
	return p.filled(r.Transcript)
}

// filled is a transcript with what nodes have reported in their places: those
// that still run, and those that ended without a result.
func (p *pipeline) filled(t contract.Transcript) contract.Transcript {
	out := copyOf(t)
	for i, m := range out.Tail {
		if m.Part == nil {
			continue
		}
		var inside contract.Transcript
		if m.Part.Transcript == nil {
			inside = p.transcript(m.Part.Run)
		} else {
			inside = p.filled(*m.Part.Transcript)
		}
		out.Tail[i].Part = &contract.Part{Run: m.Part.Run, Transcript: &inside}
	}
	return out
}

// tree is the state of a node, with what the running nodes inside have reported.
func (p *pipeline) tree(s contract.NodeState) contract.NodeState {
	if s.Run == "" || s.Status.Over() {
		return s
	}
	if r, ok := p.reports[s.Run]; ok {
		s = r.Tree
	}
	s.Nodes = slices.Clone(s.Nodes)
	for i := range s.Nodes {
		s.Nodes[i] = p.tree(s.Nodes[i])
	}
	return s
}

// treeState is the state of the tree in the running turn, or in the last one.
func (c *conversation) treeState() contract.NodeState {
	switch {
	case c.state.Tree == nil:
		return contract.NodeState{}
	case c.turn != nil && c.turn.pipeline != nil && c.turn.pipeline.reports != nil:
		return c.turn.pipeline.tree(*c.state.Tree)
	}
	return *c.state.Tree
}

// queryTree answers the query "tree".
func (c *conversation) queryTree() (contract.TreeView, error) {
	root := c.in.Agent.Root()
	if root.Name == "" {
		root.Name = c.in.Agent.Name
	}
	return contract.TreeView{
		ConversationID: c.in.ID, Turn: c.state.Turn, Node: withoutPrompts(root), State: c.treeState(),
	}, nil
}

func withoutPrompts(n contract.Node) contract.Node {
	n.Prompt, n.Keys = contract.Text{}, nil
	n.Nodes = slices.Clone(n.Nodes)
	for i := range n.Nodes {
		n.Nodes[i] = withoutPrompts(n.Nodes[i])
	}
	return n
}
