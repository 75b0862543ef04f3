package workflows

import (
	"slices"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/decide"
	"agent-stop-and-go/workflows/wording"
)

// pipeline is a turn's composite root at work: a child workflow, and what it and
// the nodes inside it have reported.
type pipeline struct {
	run     string // the root's workflow ID
	inbox   []contract.NodeReports
	reports map[string]contract.NodeReport // by workflow ID, the latest of each
	order   []string                       // of the first reports
	lost    []contract.NodeState           // of nodes that ended without a result, as last reported
	broken  bool                           // the root did so itself
}

// keep keeps a report, unless there is a later one.
func (p *pipeline) keep(r contract.NodeReport) bool {
	last, known := p.reports[r.Run]
	if known && !r.Follows(last) {
		return false
	}
	if !known {
		p.order = append(p.order, r.Run)
	}
	p.reports[r.Run] = r
	return true
}

func (p *pipeline) knows(run string) bool { return slices.Contains(p.order, run) }

// clean drops the reports of nodes that have ended: what is around them does not
// leave a place for them any more.
func (p *pipeline) clean() {
	running := p.reachable(p.run)
	p.order = slices.DeleteFunc(p.order, func(run string) bool {
		if slices.Contains(running, run) {
			return false
		}
		delete(p.reports, run)
		return true
	})
}

// reachable lists a node and those inside it that report on their own.
func (p *pipeline) reachable(run string) []string {
	list := []string{run}
	for _, m := range p.reports[run].Transcript.Tail {
		if m.Part != nil && m.Part.Transcript == nil {
			list = append(list, p.reachable(m.Part.Run)...)
		}
	}
	return list
}

// runPipeline runs a composite root. Reports are dealt with as they come.
func (t *turn) runPipeline(ctx workflow.Context, root contract.Node) contract.NodeResult {
	always, _ := workflow.NewDisconnectedContext(ctx)
	t.foldTranscript(always)
	in := t.nodeInput(root)
	p := &pipeline{reports: map[string]contract.NodeReport{}}
	id := contract.NodeWorkflowID(contract.TurnWorkflowID(t.in.ID, t.state.Turn), root.Name, 0)
	p.run, in.Key = t.reset.nodeID(always, id, id, t.in.ID)
	t.pipeline = p
	*t.state.Tree = contract.NodeState{Status: contract.NodeRunning, Run: p.run, StartedAt: now(ctx)}
	child := startNode(withCredential(ctx, t.credential), p.run, in)
	t.reset.adopt(ctx, p.run, t.in.ID, child)
	for !child.IsReady() || t.arrivedReports(always) {
		for _, batch := range p.take() {
			t.takeReports(always, batch)
		}
		// The context is never cancelled, so Await cannot fail.
		_ = workflow.Await(always, func() bool { return child.IsReady() || t.arrivedReports(always) })
	}
	return t.endPipeline(always, nodeResult(ctx, child))
}

// arrivedReports reports whether there are reports to be dealt with. It looks into
// the signal channel too: the loop that owns it may be busy with an export.
func (t *turn) arrivedReports(ctx workflow.Context) bool {
	t.receiveReports(ctx)
	return len(t.pipeline.inbox) > 0
}

// take empties the inbox.
func (p *pipeline) take() []contract.NodeReports {
	list := p.inbox
	p.inbox = nil
	return list
}

func (t *turn) nodeInput(root contract.Node) contract.NodeInput {
	agent := t.in.Agent
	agent.Prompt, agent.Tree, agent.Peers = contract.Text{}, nil, nil
	in := contract.NodeInput{
		ConversationID: t.in.ID, SessionID: t.in.SessionID, Chain: t.in.Chain, Agent: agent, ConfigHash: t.origin.configHash,
		Turn: t.state.Turn, Path: []int{}, Node: root, User: t.question,
		Credential: t.credential, Budget: root.Timeout, Spent: t.spentBefore(),
		ClientTools: t.origin.clientTools,
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
		fold(&t.state.Transcript, older, out.Folded)
	}
}

// takeReports makes visible what nodes report, and answers the requests that
// waited for it. Those of a turn that is being stopped wait for its end.
func (t *turn) takeReports(ctx workflow.Context, batch contract.NodeReports) {
	waited := len(t.pending) > 0
	var fresh *contract.PendingApproval
	news := false
	for _, r := range batch.Reports {
		opened, isNew := t.takeReport(r)
		news = news || isNew
		if fresh == nil {
			fresh = opened
		}
	}
	if !news {
		return
	}
	t.pipeline.clean()
	t.dropPending(func(o openApproval) bool { return !t.pipeline.knows(o.run) })
	t.state.UpdatedAt = now(ctx)
	switch {
	case len(t.pending) > 0:
		t.setStatus(ctx, contract.StatusWaitingApproval)
		var requests []string
		if !t.stopped {
			requests, t.requests = t.requests, nil
		}
		t.settle(ctx, requests, t.waitingResult(fresh))
	case waited:
		t.setStatus(ctx, contract.StatusActive)
		t.show(ctx)
	}
}

// takeReport keeps a report and takes over the open approvals of its node. It
// returns the first that was not open before, if there is one, and whether the
// report told anything.
func (t *turn) takeReport(r contract.NodeReport) (fresh *contract.PendingApproval, news bool) {
	for _, d := range r.Decided {
		t.noteDecision(d)
	}
	for _, run := range r.Lost {
		t.giveUp(run)
	}
	if !t.pipeline.keep(r) {
		return nil, len(r.Decided)+len(r.Lost) > 0
	}
	for _, o := range r.Open {
		if !slices.Contains(r.Waiting, o.Approval.UUID) {
			continue
		}
		t.pending = append(t.pending, openApproval{PendingApproval: o.Approval, run: r.Run, pipeline: &contract.PipelineState{
			Path: o.Approval.NodePath, OutputKey: o.OutputKey, State: r.State, UserMessage: t.question.Content,
		}})
		if fresh == nil {
			fresh = &o.Approval
		}
	}
	t.dropPending(func(p openApproval) bool { return p.run == r.Run && !slices.Contains(r.Waiting, p.UUID) })
	return fresh, true
}

// giveUp keeps what a node had reported that ended without a result, and those
// inside it.
func (t *turn) giveUp(run string) {
	p := t.pipeline
	absorb(&t.state.Transcript, run, p.transcript(run))
	if last, ok := p.reports[run]; ok {
		p.lost = append(p.lost, last.Tree)
	}
}

func (t *turn) dropPending(gone func(openApproval) bool) {
	t.pending = slices.DeleteFunc(slices.Clone(t.pending), gone)
	t.dropLateAnswers()
}

// waitingResult answers who asked or decided while approvals wait: with the one
// that has just opened, else with the first.
func (t *turn) waitingResult(fresh *contract.PendingApproval) contract.Result {
	shown := 0
	for i, p := range t.pending {
		if fresh != nil && p.UUID == fresh.UUID {
			shown = i
		}
	}
	p := t.pending[shown]
	return t.waitingFor(shown, contract.Inline(wording.RequestText(p.PendingApproval, t.pipeline != nil)))
}

// endPipeline takes over what the root leaves behind.
func (t *turn) endPipeline(ctx workflow.Context, r contract.NodeResult) contract.NodeResult {
	p := t.pipeline
	if p.broken = r.Tree.Status == ""; p.broken { // its reports are what there is
		r.Transcript, r.Tree = p.transcript(p.run), *t.state.Tree
		if last, ok := p.reports[p.run]; ok {
			r.Tree = last.Tree
		}
		finish(ctx, &r.Tree, r)
	}
	r = decide.Settle(t.in.Agent.Root(), r)
	r.Transcript = p.filled(r.Transcript)
	absorb(&t.state.Transcript, p.run, r.Transcript)
	t.account(r)
	r.Tree = p.withLost(r.Tree)
	t.state.Tree = &r.Tree
	t.pending, p.reports, p.order = nil, nil, nil
	t.dropLateAnswers()
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

// running are the latest states of the nodes that have not ended.
func (p *pipeline) running() []contract.NodeState {
	var list []contract.NodeState
	for _, run := range p.order {
		if r := p.reports[run]; !r.Tree.Status.Over() {
			list = append(list, r.Tree)
		}
	}
	return append(list, p.lost...)
}

// withLost is a state with what lost nodes inside it had last reported.
func (p *pipeline) withLost(s contract.NodeState) contract.NodeState {
	if s.Run == "" || len(p.lost) == 0 {
		return s
	}
	for _, l := range p.lost {
		if l.Run == s.Run && s.Lost() {
			s.Nodes, s.Folded = l.Nodes, l.Folded
		}
	}
	s.Nodes = slices.Clone(s.Nodes)
	for i := range s.Nodes {
		s.Nodes[i] = p.withLost(s.Nodes[i])
	}
	return s
}

// queryTree answers the query "tree".
func (c *conversation) queryTree() (contract.TreeView, error) { return c.tree(), nil }

func (c *conversation) tree() contract.TreeView {
	root := c.in.Agent.Root()
	if root.Name == "" {
		root.Name = c.in.Agent.Name
	}
	v := contract.TreeView{ConversationID: c.in.ID, Turn: c.state.Turn, Node: withoutPrompts(root)}
	if c.state.Tree != nil {
		v.State = *c.state.Tree
	}
	if c.turn != nil && c.turn.pipeline != nil {
		v.Running = c.turn.pipeline.running()
	}
	return v
}

func withoutPrompts(n contract.Node) contract.Node {
	n.Prompt, n.Keys, n.Expects = contract.Text{}, nil, nil
	n.Nodes = slices.Clone(n.Nodes)
	for i := range n.Nodes {
		n.Nodes[i] = withoutPrompts(n.Nodes[i])
	}
	return n
}
