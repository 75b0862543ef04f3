package decide

import (
	"slices"
	"strings"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

// ApplySettings applies a node's own settings to its result: on_reject turns a rejection into
// an output, and output_key stores the output in the session state. Only outputs of done nodes
// are stored.
func ApplySettings(n contract.Node, r contract.NodeResult) contract.NodeResult {
	if r.Outcome == contract.OutcomeRejected && n.OnReject == contract.OnRejectContinue {
		r.Outcome = contract.OutcomeDone
	}
	if r.Outcome == contract.OutcomeDone && n.OutputKey != "" && !r.Output.IsZero() {
		r.Delta = r.Delta.With(contract.Value{Key: n.OutputKey, Text: r.Output})
	}
	return r
}

// WithCount returns a leaf's result with its own outcome counted.
func WithCount(n contract.Node, r contract.NodeResult) contract.NodeResult {
	t := contract.Counts{Node: n.Name}
	switch r.Outcome {
	case contract.OutcomeDone:
		t.Done = 1
	case contract.OutcomeFailed:
		t.Failed = 1
	case contract.OutcomeRejected:
		t.Rejected = 1
	default:
		return r
	}
	r.Counts = []contract.Counts{t}
	return r
}

// Merge combines the results of the nodes inside a composite node.
type Merge struct {
	Outcome      contract.Outcome
	Output       contract.Text // the last one that is not empty
	Delta        contract.State
	Usage        contract.Usage
	Exit         bool
	AuthRequired string
	Worked       time.Duration
	Granted      contract.Limits
	Counts       []contract.Counts
	// Outputs are the outputs of parallel nodes.
	Outputs []contract.Text
}

// ResumeMerge continues from what Result returned.
func ResumeMerge(r contract.NodeResult) Merge {
	return Merge{
		Outcome: r.Outcome, Output: r.Output, Delta: r.Delta, Usage: r.Usage, Exit: r.Exit,
		AuthRequired: r.AuthRequired, Worked: r.Worked, Granted: r.Granted, Counts: r.Counts,
	}
}

// Result returns the merge as a result, without transcript and tree.
func (m *Merge) Result() contract.NodeResult {
	r := contract.NodeResult{
		Outcome: m.Outcome, Output: m.Output, Delta: m.Delta, Usage: m.Usage, Exit: m.Exit,
		AuthRequired: m.AuthRequired, Worked: m.Worked, Granted: m.Granted, Counts: m.Counts,
	}
	if r.Outcome == "" {
		r.Outcome = contract.OutcomeDone
	}
	return r
}

// AddStep adds the result of the next node of a sequence. It returns true if no other node may
// follow: after a rejection, a cancellation, a required login, and exit_loop. A failure is an
// output like any other.
func (m *Merge) AddStep(r contract.NodeResult) (last bool) {
	m.Worked += r.Worked
	m.add(r)
	m.Outcome = r.Outcome
	if !r.Output.IsZero() {
		m.Output = r.Output
	}
	return m.Exit || m.AuthRequired != "" || r.Outcome == contract.OutcomeRejected || r.Outcome == contract.OutcomeCancelled
}

func (m *Merge) add(r contract.NodeResult) {
	m.Delta = m.Delta.With(r.Delta...)
	m.Usage = m.Usage.Add(r.Usage)
	m.Granted = m.Granted.Add(r.Granted)
	m.Exit = m.Exit || r.Exit
	if m.AuthRequired == "" {
		m.AuthRequired = r.AuthRequired
	}
	for _, t := range r.Counts {
		m.count(t)
	}
}

func (m *Merge) count(t contract.Counts) {
	for i, known := range m.Counts {
		if known.Node == t.Node {
			m.Counts = slices.Clone(m.Counts)
			m.Counts[i] = contract.Counts{
				Node: t.Node, Done: known.Done + t.Done, Failed: known.Failed + t.Failed, Rejected: known.Rejected + t.Rejected,
			}
			return
		}
	}
	m.Counts = append(m.Counts, t)
}

// AddBranches adds the results of parallel nodes, in declared order. One rejection rejects all,
// and one failure fails all if it stopped the others or if all failed.
func (m *Merge) AddBranches(failFast bool, results []contract.NodeResult) {
	var longest time.Duration
	for _, r := range results {
		m.add(r)
		longest = max(longest, r.Worked)
		if !r.Output.IsZero() && r.Outcome != contract.OutcomeCancelled {
			m.Outputs = append(m.Outputs, r.Output)
		}
	}
	m.Worked += longest
	failed := count(results, contract.OutcomeFailed)
	switch {
	case count(results, contract.OutcomeRejected) > 0:
		first := slices.IndexFunc(results, func(r contract.NodeResult) bool { return r.Outcome == contract.OutcomeRejected })
		m.Outcome, m.Outputs = contract.OutcomeRejected, []contract.Text{results[first].Output}
	case failed > 0 && (failFast || failed == len(results)):
		m.Outcome = contract.OutcomeFailed
	case count(results, contract.OutcomeCancelled) == len(results):
		m.Outcome = contract.OutcomeCancelled
	default:
		m.Outcome = contract.OutcomeDone
	}
}

func count(results []contract.NodeResult, o contract.Outcome) int {
	n := 0
	for _, r := range results {
		if r.Outcome == o {
			n++
		}
	}
	return n
}

// JoinInline joins outputs, one per line, if all of them and the result are short enough for
// history.
func JoinInline(parts []contract.Text) (contract.Text, bool) {
	var lines []string
	for _, p := range parts {
		if p.Blob != nil {
			return contract.Text{}, false
		}
		lines = append(lines, p.Inline)
	}
	text := strings.Join(lines, "\n")
	return contract.Inline(text), len(text) <= contract.InlineLimit
}

// LeaveLoop ends the effect of exit_loop at its loop.
func (m *Merge) LeaveLoop() { m.Exit = false }

// TimeLeft returns the remainder of a budget; zero is unlimited.
func (m *Merge) TimeLeft(budget time.Duration) time.Duration {
	if budget <= 0 {
		return 0
	}
	return max(budget-m.Worked, time.Millisecond)
}

// TimeIsUp reports whether a budget is used up, and records that as a failure.
func (m *Merge) TimeIsUp(budget time.Duration) bool {
	if budget <= 0 || m.Worked < budget {
		return false
	}
	m.Outcome, m.Output = contract.OutcomeFailed, contract.Inline(wording.TimedOut(budget))
	return true
}

// Shorter returns the shorter of two limits; zero is no limit.
func Shorter(a, b time.Duration) time.Duration {
	if a <= 0 || b > 0 && b < a {
		return b
	}
	return a
}

const (
	fastestReport = 300 * time.Millisecond
	reportShare   = 20 // a node that runs for an hour reports at most every 3 minutes
)

// ReportPace returns how long a node waits before its next report that is not urgent: in
// proportion to how long it has run, so that the number of reports grows with the logarithm of
// the time.
func ReportPace(running time.Duration) time.Duration {
	return max(fastestReport, running/reportShare)
}
