package workflows

import (
	"encoding/json"
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/decide"
	"agent-stop-and-go/workflows/wording"
)

// reporter is what a composite node has to tell the workflow around it. One
// coroutine tells it, so reports arrive in order: at once when that is urgent,
// else at a pace that keeps their number small however long the node runs.
type reporter struct {
	dirty   bool // something changed since the last report
	urgent  bool
	over    bool // the result says it all
	sending bool
	sent    int       // reports
	since   time.Time // the node started, or a person last decided

	opened []contract.OpenApproval // since the last report

	// What no result tells, until it has arrived.
	decided []contract.ApprovalResult
	lost    []string

	inside  []contract.NodeReport // the latest of each node inside
	fresh   []string              // runs of those that are to be passed on
	arrived workflow.ReceiveChannel
}

// report is the coroutine that sends. Its context is never cancelled.
func (c *composite) report(ctx workflow.Context) {
	r := &c.reporter
	for {
		_ = workflow.Await(ctx, func() bool { return r.dirty })
		if !r.urgent {
			pace := decide.ReportPace(workflow.Now(ctx).Sub(r.since))
			_, _ = workflow.AwaitWithOptions(ctx, awaitFor(pace, wording.SummaryNextReport), func() bool { return r.urgent || r.over })
		}
		if r.over && !r.urgent {
			return
		}
		c.send(ctx)
	}
}

// send sends a report and waits until the workflow around has it.
func (c *composite) send(ctx workflow.Context) {
	r := &c.reporter
	r.sending = true
	defer func() { r.sending = false }()
	c.foldAll(ctx)
	batch := contract.NodeReports{Urgent: r.urgent, Reports: []contract.NodeReport{c.ownReport()}}
	for _, report := range r.inside {
		if slices.Contains(r.fresh, report.Run) {
			batch.Reports = append(batch.Reports, report)
		}
	}
	r.dirty, r.urgent, r.fresh, r.opened = false, false, nil, nil
	err := workflow.SignalExternalWorkflow(ctx, c.around(ctx), "", contract.SignalReport, batch).Get(ctx, nil)
	if err != nil { // it has ended, and will end this node
		workflow.GetLogger(ctx).Warn("report to the workflow around", "error", err)
	}
	own := batch.Reports[0]
	r.decided, r.lost = r.decided[len(own.Decided):], r.lost[len(own.Lost):]
}

// around is the workflow that a node reports to. One that was started by hand has
// nothing around it but its conversation.
func (c *composite) around(ctx workflow.Context) string {
	if parent := workflow.GetInfo(ctx).ParentWorkflowExecution; parent != nil {
		return parent.ID
	}
	return contract.ConversationWorkflowID(c.in.ConversationID)
}

func (c *composite) ownReport() contract.NodeReport {
	r := &c.reporter
	r.sent++
	report := contract.NodeReport{
		Turn: c.in.Turn, Run: c.id, Seq: r.sent, Execution: c.execution, Tree: c.snapshot(), Transcript: c.transcript(),
		Open: slices.Clone(r.opened), Decided: slices.Clone(r.decided), Lost: slices.Clone(r.lost),
	}
	for _, o := range c.open {
		report.Waiting = append(report.Waiting, o.Approval.UUID)
	}
	if len(c.open) > 0 {
		report.State = c.session()
	}
	return report
}

// owes reports whether there is something that is in no result and has not arrived.
func (r *reporter) owes() bool { return len(r.decided)+len(r.lost) > 0 }

// flush sends a report now and returns when the workflow around has it.
func (r *reporter) flush(ctx workflow.Context) {
	r.dirty, r.urgent = true, true
	_ = workflow.Await(ctx, func() bool { return !r.urgent && !r.sending })
}

// settle waits until what is owed has arrived.
func (r *reporter) settle(ctx workflow.Context) {
	if r.owes() {
		r.dirty, r.urgent = true, true
	}
	_ = workflow.Await(ctx, func() bool { return !r.urgent && !r.sending })
}

// listen is the coroutine that takes in what nodes inside report, and what the
// servers of calls under way ask. Its context is never cancelled.
func (c *composite) listen(ctx workflow.Context) {
	for {
		_ = workflow.Await(ctx, func() bool { return c.reporter.arrived.Len()+c.questions.Len() > 0 })
		c.takeReports(ctx)
		takeQuestions(ctx, c.questions, c.leaves...)
	}
}

func (c *composite) takeReports(ctx workflow.Context) {
	for raw, ok := receive(c.reporter.arrived); ok; raw, ok = receive(c.reporter.arrived) {
		var batch contract.NodeReports
		if err := json.Unmarshal(raw, &batch); err != nil {
			workflow.GetLogger(ctx).Warn("a report was not understood", "error", err)
			continue
		}
		for _, r := range batch.Reports {
			c.takeReport(r)
		}
		c.reporter.dirty = true
		c.reporter.urgent = c.reporter.urgent || batch.Urgent
	}
}

// takeReport keeps a report to pass it on. What it tells besides the node's state
// is passed on as our own, which is never overtaken by a later report.
func (c *composite) takeReport(report contract.NodeReport) {
	r := &c.reporter
	r.decided, r.lost = append(r.decided, report.Decided...), append(r.lost, report.Lost...)
	report.Decided, report.Lost = nil, nil
	if !c.runs(report.Run) {
		return
	}
	i := slices.IndexFunc(r.inside, func(old contract.NodeReport) bool { return old.Run == report.Run })
	switch {
	case i < 0:
		r.inside = append(r.inside, report)
	case !report.Follows(r.inside[i]):
		return
	default:
		if slices.Contains(r.fresh, report.Run) { // the one before was not passed on
			report.Open = append(slices.Clone(r.inside[i].Open), report.Open...)
		}
		r.inside[i] = report
	}
	if !slices.Contains(r.fresh, report.Run) {
		r.fresh = append(r.fresh, report.Run)
	}
}

// runs reports whether a workflow is, or belongs to, a node inside that runs.
func (c *composite) runs(run string) bool {
	return slices.ContainsFunc(c.parts, func(p *part) bool { return p.run != "" && contract.Within(run, p.run) })
}

// forget drops the reports of a node inside that has ended: its result has it all.
func (c *composite) forget(run string) {
	c.reporter.inside = slices.DeleteFunc(c.reporter.inside, func(r contract.NodeReport) bool { return contract.Within(r.Run, run) })
}

func (c *composite) changed(ctx workflow.Context) {
	c.reporter.dirty = true
	c.show(ctx)
}

// show is what the Web UI shows of the node.
func (c *composite) show(ctx workflow.Context) {
	workflow.SetCurrentDetails(ctx, wording.NodeDetails(c.in.Node, c.state, c.open, consoleOf(ctx)))
}

// snapshot is the node's state, which later changes do not change.
func (c *composite) snapshot() contract.NodeState {
	s := c.state
	s.Usage = c.sum.Usage
	s.Nodes = slices.Clone(s.Nodes)
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
