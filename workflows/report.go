package workflows

import (
	"encoding/json"
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/console"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/decide"
	"agent-stop-and-go/workflows/record/transcript"
	"agent-stop-and-go/workflows/run"
	"agent-stop-and-go/workflows/signal"
	"agent-stop-and-go/workflows/wording"
)

// reporter sends the reports of a composite node to its parent workflow. One coroutine sends,
// so reports arrive in order: at once if they are urgent, else at a decreasing rate that keeps
// their number small however long the node runs.
type reporter struct {
	dirty   bool // something changed since the last report
	urgent  bool
	stopped bool // the node has ended; its result has everything
	sending bool
	sent    int       // reports
	since   time.Time // time of the start, or of the last decision

	opened []contract.OpenApproval // since the last report

	// Not part of any result, therefore kept until they have arrived.
	decided []contract.ApprovalResult
	lost    []string

	latest  []contract.NodeReport // the latest report of each node inside
	unsent  []string              // runs whose latest report is to be passed on
	reports workflow.ReceiveChannel
}

// sendReports is the coroutine that sends. Its context is never cancelled.
func (c *composite) sendReports(ctx workflow.Context) {
	r := &c.reporter
	for {
		_ = workflow.Await(ctx, func() bool { return r.dirty })
		if !r.urgent {
			pace := decide.ReportPace(workflow.Now(ctx).Sub(r.since))
			_, _ = workflow.AwaitWithOptions(ctx, run.Timeout(pace, wording.SummaryNextReport), func() bool { return r.urgent || r.stopped })
		}
		if r.stopped && !r.urgent {
			return
		}
		c.sendReport(ctx)
	}
}

// sendReport sends a report and waits until the parent workflow has it.
func (c *composite) sendReport(ctx workflow.Context) {
	r := &c.reporter
	r.sending = true
	defer func() { r.sending = false }()
	c.offloadAll(ctx)
	batch := contract.NodeReports{Urgent: r.urgent, Reports: []contract.NodeReport{c.ownReport()}}
	for _, report := range r.latest {
		if slices.Contains(r.unsent, report.Run) {
			batch.Reports = append(batch.Reports, report)
		}
	}
	r.dirty, r.urgent, r.unsent, r.opened = false, false, nil, nil
	err := workflow.SignalExternalWorkflow(ctx, c.reportTarget(ctx), "", contract.SignalReport, batch).Get(ctx, nil)
	if err != nil { // the parent has ended, and will end this node
		workflow.GetLogger(ctx).Warn("report to the workflow around", "error", err)
	}
	own := batch.Reports[0]
	r.decided, r.lost = r.decided[len(own.Decided):], r.lost[len(own.Lost):]
}

// reportTarget returns the workflow that a node reports to. A node that was started by hand has
// no parent and reports to its conversation.
func (c *composite) reportTarget(ctx workflow.Context) string {
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
		report.State = c.sessionState()
	}
	return report
}

// hasUnsent reports whether reports are left that are not part of a result and have not
// arrived.
func (r *reporter) hasUnsent() bool { return len(r.decided)+len(r.lost) > 0 }

// flush sends a report now and returns when the parent workflow has it.
func (r *reporter) flush(ctx workflow.Context) {
	r.dirty, r.urgent = true, true
	_ = workflow.Await(ctx, func() bool { return !r.urgent && !r.sending })
}

// settle waits until everything that is not part of a result has arrived.
func (r *reporter) settle(ctx workflow.Context) {
	if r.hasUnsent() {
		r.dirty, r.urgent = true, true
	}
	_ = workflow.Await(ctx, func() bool { return !r.urgent && !r.sending })
}

// receiveSignals is the coroutine that receives the reports of nodes inside and the questions
// of tool servers. Its context is never cancelled.
func (c *composite) receiveSignals(ctx workflow.Context) {
	for {
		_ = workflow.Await(ctx, func() bool { return c.reporter.reports.Len()+c.questions.Len() > 0 })
		c.receiveReports(ctx)
		c.reporter.urgent = routeQuestions(ctx, c.questions, c.leaves...) || c.reporter.urgent
	}
}

func (c *composite) receiveReports(ctx workflow.Context) {
	for raw, ok := signal.Receive(c.reporter.reports); ok; raw, ok = signal.Receive(c.reporter.reports) {
		var batch contract.NodeReports
		if err := json.Unmarshal(raw, &batch); err != nil {
			workflow.GetLogger(ctx).Warn("a report was not understood", "error", err)
			continue
		}
		for _, r := range batch.Reports {
			c.storeReport(r)
		}
		c.reporter.dirty = true
		c.reporter.urgent = c.reporter.urgent || batch.Urgent
	}
}

// storeReport keeps a report to pass it on. Its decisions and lost nodes are passed on in our
// own report, which no later report replaces.
func (c *composite) storeReport(report contract.NodeReport) {
	r := &c.reporter
	r.decided, r.lost = append(r.decided, report.Decided...), append(r.lost, report.Lost...)
	report.Decided, report.Lost = nil, nil
	if !c.contains(report.Run) {
		return
	}
	i := slices.IndexFunc(r.latest, func(old contract.NodeReport) bool { return old.Run == report.Run })
	switch {
	case i < 0:
		r.latest = append(r.latest, report)
	case !report.Follows(r.latest[i]):
		return
	default:
		if slices.Contains(r.unsent, report.Run) { // the previous one was not passed on
			report.Open = append(slices.Clone(r.latest[i].Open), report.Open...)
		}
		r.latest[i] = report
	}
	if !slices.Contains(r.unsent, report.Run) {
		r.unsent = append(r.unsent, report.Run)
	}
}

// contains reports whether a workflow is a running node inside, or belongs to one.
func (c *composite) contains(run string) bool {
	return slices.ContainsFunc(c.segments, func(p *segment) bool { return p.run != "" && contract.Within(run, p.run) })
}

// dropReports drops the reports of an ended node: its result has everything.
func (c *composite) dropReports(run string) {
	c.reporter.latest = slices.DeleteFunc(c.reporter.latest, func(r contract.NodeReport) bool { return contract.Within(r.Run, run) })
}

func (c *composite) refresh(ctx workflow.Context) {
	c.reporter.dirty = true
	c.show(ctx)
}

// show updates the details in the Web UI.
func (c *composite) show(ctx workflow.Context) {
	workflow.SetCurrentDetails(ctx, wording.NodeDetails(c.in.Node, c.state, c.open, console.Of(ctx)))
}

// snapshot returns a copy of the node's state.
func (c *composite) snapshot() contract.NodeState {
	s := c.state
	s.Usage = c.sum.Usage
	s.Nodes = slices.Clone(s.Nodes)
	return s
}

// transcript returns all messages so far. A node that reports on its own is represented by an
// empty segment.
func (c *composite) transcript() contract.Transcript {
	t := transcript.Clone(c.endedTranscript)
	for _, p := range c.segments {
		if p.run != "" {
			t.Tail = append(t.Tail, contract.Message{Segment: &contract.Segment{Run: p.run}})
			continue
		}
		transcript.Merge(&t, c.id, transcript.Clone(p.transcript))
	}
	return t
}
