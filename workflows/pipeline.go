package workflows

import (
	"slices"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/choice"
	"agent-stop-and-go/workflows/contract/delegation"
	"agent-stop-and-go/workflows/credential/header"
	"agent-stop-and-go/workflows/decide"
	"agent-stop-and-go/workflows/record/transcript"
	"agent-stop-and-go/workflows/run"
	"agent-stop-and-go/workflows/wording"
)

// pipeline is a turn's running composite root: a child workflow, and the reports of it and of
// the nodes inside it.
type pipeline struct {
	run     string // the root's workflow ID
	inbox   []contract.NodeReports
	reports map[string]contract.NodeReport // by workflow ID, the latest of each
	order   []string                       // of the first reports
	lost    []contract.NodeState           // of nodes that ended without a result, as last reported
	broken  bool                           // the root did so itself
}

// update stores a report, unless there is a later one.
func (p *pipeline) update(r contract.NodeReport) bool {
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

func (p *pipeline) has(run string) bool { return slices.Contains(p.order, run) }

// dropEnded drops the reports of ended nodes: the transcripts of their parents have no place
// for them any more.
func (p *pipeline) dropEnded() {
	running := p.reachable(p.run)
	p.order = slices.DeleteFunc(p.order, func(run string) bool {
		if slices.Contains(running, run) {
			return false
		}
		delete(p.reports, run)
		return true
	})
}

// reachable lists a node and the nodes inside it that report on their own.
func (p *pipeline) reachable(run string) []string {
	list := []string{run}
	for _, m := range p.reports[run].Transcript.Tail {
		if m.Segment != nil && m.Segment.Transcript == nil {
			list = append(list, p.reachable(m.Segment.Run)...)
		}
	}
	return list
}

// runPipeline runs a composite root and applies reports as they arrive.
func (t *turn) runPipeline(ctx workflow.Context, root *contract.Node, m *contract.MessageSignal) contract.NodeResult {
	always := run.Detached(ctx)
	child := t.startPipeline(ctx, root, m)
	for !child.IsReady() || t.hasReports(always) {
		for _, batch := range t.pipeline.takeInbox() {
			t.applyReports(always, batch)
		}
		// The context is never cancelled, so Await cannot fail.
		_ = workflow.Await(always, func() bool { return child.IsReady() || t.hasReports(always) })
	}
	return t.endPipeline(always, nodeResult(ctx, child))
}

func (t *turn) startPipeline(ctx workflow.Context, root *contract.Node, m *contract.MessageSignal) workflow.ChildWorkflowFuture {
	always := run.Detached(ctx)
	t.offloadTranscript(always)
	in := t.nodeInput(*root, *m)
	p := &pipeline{reports: map[string]contract.NodeReport{}}
	id := contract.NodeWorkflowID(contract.TurnWorkflowID(t.conv.in.ID, t.conv.state.Turn), root.Name, 0)
	p.run, in.Key = t.conv.reset.NodeID(always, id, id, t.conv.in.ID)
	t.pipeline = p
	*t.conv.state.Tree = contract.NodeState{Status: contract.NodeRunning, Run: p.run, StartedAt: run.Now(ctx)}
	child := startNode(header.With(ctx, t.credential), p.run, in)
	t.conv.reset.CancelWithContext(ctx, p.run, t.conv.in.ID, child)
	return child
}

// hasReports reports whether there are reports to apply. It reads the signal channel too,
// because the loop that owns it may be waiting for an export.
func (t *turn) hasReports(ctx workflow.Context) bool {
	t.conv.receiveReports(ctx)
	return len(t.pipeline.inbox) > 0
}

// takeInbox empties the inbox.
func (p *pipeline) takeInbox() []contract.NodeReports {
	list := p.inbox
	p.inbox = nil
	return list
}

func (t *turn) nodeInput(root contract.Node, m contract.MessageSignal) contract.NodeInput {
	agent := t.conv.in.Agent
	agent.Prompt, agent.Tree, agent.Peers = contract.Text{}, nil, nil
	in := contract.NodeInput{
		ConversationID: t.conv.in.ID, SessionID: t.conv.in.SessionID, Owner: t.conv.in.Owner, Chain: t.conv.in.Chain, Agent: agent, ConfigHash: t.turnOrigin.configHash,
		Turn: t.conv.state.Turn, Path: []int{}, Node: root, User: t.question,
		Credential: t.credential, Budget: root.Timeout, Consumption: t.consumptionBefore(),
		ClientTools: t.turnOrigin.clientTools, ToolChoice: m.ToolChoice, Caller: t.turnOrigin.caller,
		Dialogues: delegation.Dialogues{List: t.conv.state.Dialogues},
	}
	if root.WantsHistory() {
		history := transcript.Clone(t.conv.state.Transcript)
		in.History = &history
	}
	return in
}

// offloadTranscript keeps the conversation's tail short. Agents that are a single node leave
// that to their model calls. The last message stays in the tail.
func (t *turn) offloadTranscript(ctx workflow.Context) {
	if !transcript.IsLong(t.conv.state.Transcript) {
		return
	}
	tail := t.conv.state.Transcript.Tail
	older := contract.Transcript{Head: t.conv.state.Transcript.Head, Tail: tail[:len(tail)-1]}
	if out, ok := offload(ctx, contract.OffloadInput{Transcript: older}); ok {
		transcript.ReplaceOffloaded(&t.conv.state.Transcript, older, out.Offloaded)
	}
}

// applyReports publishes what nodes report, and settles the requests that waited for it.
// Requests of a turn that is being stopped are settled at its end.
func (t *turn) applyReports(ctx workflow.Context, batch contract.NodeReports) {
	waited := len(t.conv.pending) > 0
	var fresh *contract.PendingApproval
	news := false
	for _, r := range batch.Reports {
		opened, isNew := t.applyReport(r)
		news = news || isNew
		if fresh == nil {
			fresh = opened
		}
	}
	if !news {
		return
	}
	t.pipeline.dropEnded()
	t.dropPending(func(o openApproval) bool { return !t.pipeline.has(o.run) })
	t.trace.Wait(ctx, t.conv.pendingApprovals())
	t.conv.state.UpdatedAt = run.Now(ctx)
	switch {
	case len(t.conv.pending) > 0:
		t.conv.setStatus(ctx, contract.StatusWaitingApproval)
		var requests []string
		if !t.stopped {
			requests, t.requests = t.requests, nil
		}
		t.conv.settle(ctx, requests, t.waitingResult(fresh))
	case waited:
		t.conv.setStatus(ctx, contract.StatusActive)
		t.conv.show(ctx)
	}
}

// applyReport stores a report and its open approvals. It returns the first approval that was
// not open before, if there is one, and whether the report has changed anything.
func (t *turn) applyReport(r contract.NodeReport) (fresh *contract.PendingApproval, news bool) {
	for _, d := range r.Decided {
		t.noteDecision(d)
	}
	for _, run := range r.Lost {
		t.keepLost(run)
	}
	if !t.pipeline.update(r) {
		return nil, len(r.Decided)+len(r.Lost) > 0
	}
	for _, o := range r.Open {
		if !slices.Contains(r.Waiting, o.Approval.UUID) {
			continue
		}
		t.conv.pending = append(t.conv.pending, openApproval{PendingApproval: o.Approval, run: r.Run, pipeline: &contract.PipelineState{
			Path: o.Approval.NodePath, OutputKey: o.OutputKey, State: r.State, UserMessage: t.question.Content,
		}})
		if fresh == nil {
			fresh = &o.Approval
		}
	}
	t.dropPending(func(p openApproval) bool { return p.run == r.Run && !slices.Contains(r.Waiting, p.UUID) })
	return fresh, true
}

// keepLost keeps the reports of a node that ended without a result, and of the nodes inside it.
func (t *turn) keepLost(run string) {
	p := t.pipeline
	transcript.Merge(&t.conv.state.Transcript, run, p.transcript(run))
	if last, ok := p.reports[run]; ok {
		p.lost = append(p.lost, last.Tree)
	}
}

func (t *turn) dropPending(gone func(openApproval) bool) {
	t.conv.pending = slices.DeleteFunc(slices.Clone(t.conv.pending), gone)
	t.conv.dropLateAnswers()
}

// waitingResult returns the answer to requests while approvals wait: the approval that has just
// opened, else the first.
func (t *turn) waitingResult(fresh *contract.PendingApproval) contract.Result {
	shown := 0
	for i, p := range t.conv.pending {
		if fresh != nil && p.UUID == fresh.UUID {
			shown = i
		}
	}
	p := t.conv.pending[shown]
	return t.conv.waitingFor(shown, contract.Inline(wording.RequestText(p.PendingApproval, t.pipeline != nil)))
}

// endPipeline applies the result of the root.
func (t *turn) endPipeline(ctx workflow.Context, r contract.NodeResult) contract.NodeResult {
	p := t.pipeline
	if p.broken = r.Tree.Status == ""; p.broken { // only its reports are left
		r.Transcript, r.Tree = p.transcript(p.run), *t.conv.state.Tree
		if last, ok := p.reports[p.run]; ok {
			r.Tree = last.Tree
		}
		finish(ctx, &r.Tree, r)
	}
	r = decide.ApplySettings(t.conv.in.Agent.Root(), r)
	r.Transcript = p.withReports(r.Transcript)
	transcript.Merge(&t.conv.state.Transcript, p.run, r.Transcript)
	t.account(r)
	t.conv.state.Dialogues = delegation.Merge(t.conv.state.Dialogues, r.Dialogues...)
	r.Tree = p.withLost(r.Tree)
	t.conv.state.Tree = &r.Tree
	t.conv.pending, p.reports, p.order = nil, nil, nil
	t.conv.dropLateAnswers()
	t.conv.setStatus(ctx, contract.StatusActive)
	return r
}

// transcript returns the messages that a running node and those inside it have reported.
func (p *pipeline) transcript(run string) contract.Transcript {
	r, ok := p.reports[run]
	if !ok {
		return contract.Transcript{}
	}
	return p.withReports(r.Transcript)
}

// withReports returns a transcript with the reports of nodes in their positions: nodes that
// still run, and nodes that ended without a result.
func (p *pipeline) withReports(t contract.Transcript) contract.Transcript {
	out := transcript.Clone(t)
	for i, m := range out.Tail {
		if m.Segment == nil {
			continue
		}
		var inside contract.Transcript
		if m.Segment.Transcript == nil {
			inside = p.transcript(m.Segment.Run)
		} else {
			inside = p.withReports(*m.Segment.Transcript)
		}
		out.Tail[i].Segment = &contract.Segment{Run: m.Segment.Run, Transcript: &inside}
	}
	return out
}

// runningStates returns the latest states of the nodes that have not ended.
func (p *pipeline) runningStates() []contract.NodeState {
	var list []contract.NodeState
	for _, run := range p.order {
		if r := p.reports[run]; !r.Tree.Status.Over() {
			list = append(list, r.Tree)
		}
	}
	return append(list, p.lost...)
}

// withLost returns a state with the last reported states of lost nodes inside it.
func (p *pipeline) withLost(s contract.NodeState) contract.NodeState {
	if s.Run == "" || len(p.lost) == 0 {
		return s
	}
	for _, l := range p.lost {
		if l.Run == s.Run && s.Lost() {
			s.Nodes, s.Offloaded = l.Nodes, l.Offloaded
		}
	}
	s.Nodes = slices.Clone(s.Nodes)
	for i := range s.Nodes {
		s.Nodes[i] = p.withLost(s.Nodes[i])
	}
	return s
}

// tree answers the query "tree".
func (c *conversation) tree() contract.TreeView {
	root := choice.Agent(c.in.Agent, c.state.TurnModel).Root()
	if root.Name == "" {
		root.Name = c.in.Agent.Name
	}
	v := contract.TreeView{ConversationID: c.in.ID, Turn: c.state.Turn, Node: decide.WithoutPrompts(root)}
	if c.state.Tree != nil {
		v.State = *c.state.Tree
	}
	if c.turn != nil && c.turn.pipeline != nil {
		v.Running = c.turn.pipeline.runningStates()
	}
	return v
}
