package workflows

import (
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/decide"
)

// reporter is what a composite node has to tell its conversation. One coroutine
// tells it, so reports arrive in order: at once when that is urgent, else at a
// pace that keeps their number small however long the node runs.
type reporter struct {
	dirty   bool // something changed since the last report
	urgent  bool
	unseen  bool // messages were written since the last report
	over    bool // the result says it all
	sending bool
	sent    int // reports
	decided []contract.ApprovalResult
}

// report is the coroutine. Its context is never cancelled.
func (c *composite) report(ctx workflow.Context) {
	r := &c.reporter
	for {
		_ = workflow.Await(ctx, func() bool { return r.dirty })
		if !r.urgent {
			pace := decide.ReportPace(workflow.Now(ctx).Sub(c.state.StartedAt))
			_, _ = workflow.AwaitWithOptions(ctx, awaitFor(pace, "until the next report"), func() bool { return r.urgent || r.over })
		}
		if r.over && !r.urgent {
			return
		}
		c.send(ctx)
	}
}

// send sends a report and waits until the conversation has it.
func (c *composite) send(ctx workflow.Context) {
	r := &c.reporter
	r.sending = true
	defer func() { r.sending = false }()
	c.foldAll(ctx)
	r.dirty, r.urgent, r.unseen = false, false, false
	r.sent++
	report := contract.NodeReport{
		Turn: c.in.Turn, Run: c.id, Seq: r.sent, Tree: c.snapshot(), Transcript: c.transcript(),
		Open: append([]contract.OpenApproval{}, c.open...), Decided: r.decided,
	}
	r.decided = nil
	conversation := contract.ConversationWorkflowID(c.in.ConversationID)
	err := workflow.SignalExternalWorkflow(ctx, conversation, "", contract.SignalReport, report).Get(ctx, nil)
	if err != nil { // it has ended, and with it this node
		workflow.GetLogger(ctx).Warn("report to the conversation", "error", err)
	}
}

// flush sends a report now and returns when the conversation has it.
func (r *reporter) flush(ctx workflow.Context) {
	ctx, _ = workflow.NewDisconnectedContext(ctx)
	r.dirty, r.urgent = true, true
	_ = workflow.Await(ctx, func() bool { return !r.urgent && !r.sending })
}

// settle waits for what is urgent and under way.
func (r *reporter) settle(ctx workflow.Context) {
	_ = workflow.Await(ctx, func() bool { return !r.urgent && !r.sending })
}

// handOver reports before a node inside starts to report on its own: the
// conversation then knows where that belongs, and what led to it.
func (c *composite) handOver(ctx workflow.Context) {
	c.changed(ctx)
	if c.reporter.unseen {
		c.reporter.flush(ctx)
		return
	}
	c.reporter.urgent = true
}

func (c *composite) changed(ctx workflow.Context) {
	c.reporter.dirty = true
	c.show(ctx)
}

// show is what the Web UI shows of the node.
func (c *composite) show(ctx workflow.Context) {
	workflow.SetCurrentDetails(ctx, decide.NodeDetails(c.in.Node, c.state, c.open))
}

// snapshot is the node's state, which later changes do not change.
func (c *composite) snapshot() contract.NodeState {
	s := c.state
	s.Usage = c.sum.Usage
	s.Nodes = append([]contract.NodeState{}, s.Nodes...)
	return s
}

// transcript is all that was written so far. A node that reports on its own has
// its place in it.
func (c *composite) transcript() contract.Transcript {
	t := copyOf(c.past)
	for _, p := range c.parts {
		if p.run != "" {
			t.Tail = append(t.Tail, contract.Message{Part: &contract.Part{Run: p.run}})
			continue
		}
		absorb(&t, c.id, copyOf(p.transcript))
	}
	return t
}

// foldAll moves to the blob store what has grown too large for a history: the
// messages of nodes that have ended, and the states of nodes inside those.
func (c *composite) foldAll(ctx workflow.Context) {
	if long(c.past) {
		if out, ok := foldAway(ctx, contract.FoldInput{Transcript: c.past}); ok {
			fold(&c.past, out.Folded)
		}
	}
	if size(c.state.Nodes) <= maxStates {
		return
	}
	for i := range c.state.Nodes {
		s := &c.state.Nodes[i]
		if len(s.Nodes) == 0 || !s.Status.Over() {
			continue
		}
		if out, ok := foldAway(ctx, contract.FoldInput{Nodes: s.Nodes}); ok && out.Nodes != nil {
			s.Nodes, s.Folded = nil, out.Nodes
		}
	}
}

// maxStates is the size in bytes from which states of nodes are folded.
const maxStates = 8 << 10

// foldAway is best effort: what cannot be folded now stays and is tried again.
func foldAway(ctx workflow.Context, in contract.FoldInput) (contract.FoldResult, bool) {
	o := lean(composeTimeout, "older messages")
	o.ScheduleToCloseTimeout = 2 * composeTimeout
	out, err := runLocal(ctx, contract.ActivityFold, o, in)
	if err != nil {
		workflow.GetLogger(ctx).Error("fold", "error", err)
	}
	return out, err == nil
}
