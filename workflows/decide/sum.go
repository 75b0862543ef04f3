package decide

import (
	"slices"
	"strings"
	"time"

	"agent-stop-and-go/workflows/contract"
)

// Settle finishes a node's result by the node's own settings: a rejection may be
// an output like any other, and an output may have a key to keep it under. Only
// what was done is kept.
func Settle(n contract.Node, r contract.NodeResult) contract.NodeResult {
	if r.Outcome == contract.OutcomeRejected && n.OnReject == contract.OnRejectContinue {
		r.Outcome = contract.OutcomeDone
	}
	if r.Outcome == contract.OutcomeDone && n.OutputKey != "" && !r.Output.IsZero() {
		r.Delta = r.Delta.With(contract.Value{Key: n.OutputKey, Text: r.Output})
	}
	return r
}

// Counted is a leaf's result with its own end counted.
func Counted(n contract.Node, r contract.NodeResult) contract.NodeResult {
	t := contract.Tally{Node: n.Name}
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
	r.Tally = []contract.Tally{t}
	return r
}

// Sum adds up the results of the nodes inside a composite node.
type Sum struct {
	Outcome      contract.Outcome
	Output       contract.Text // the last one that is not empty
	Delta        contract.State
	Usage        contract.Usage
	Exit         bool
	AuthRequired string
	Worked       time.Duration
	Granted      contract.Grants
	Tally        []contract.Tally
	// Parts are the outputs of parallel nodes.
	Parts []contract.Text
}

// Resume goes on from what Result returned.
func Resume(r contract.NodeResult) Sum {
	return Sum{
		Outcome: r.Outcome, Output: r.Output, Delta: r.Delta, Usage: r.Usage, Exit: r.Exit,
		AuthRequired: r.AuthRequired, Worked: r.Worked, Granted: r.Granted, Tally: r.Tally,
	}
}

// Result is the sum as a result, without transcript and tree.
func (s *Sum) Result() contract.NodeResult {
	r := contract.NodeResult{
		Outcome: s.Outcome, Output: s.Output, Delta: s.Delta, Usage: s.Usage, Exit: s.Exit,
		AuthRequired: s.AuthRequired, Worked: s.Worked, Granted: s.Granted, Tally: s.Tally,
	}
	if r.Outcome == "" {
		r.Outcome = contract.OutcomeDone
	}
	return r
}

// Then adds the result of a node that ran after those before. It returns true
// when no other may follow: after a rejection, a cancellation, a demand to log
// in, and exit_loop. A failure is a text like any other.
func (s *Sum) Then(r contract.NodeResult) (last bool) {
	s.Worked += r.Worked
	s.add(r)
	s.Outcome = r.Outcome
	if !r.Output.IsZero() {
		s.Output = r.Output
	}
	return s.Exit || s.AuthRequired != "" || r.Outcome == contract.OutcomeRejected || r.Outcome == contract.OutcomeCancelled
}

func (s *Sum) add(r contract.NodeResult) {
	s.Delta = s.Delta.With(r.Delta...)
	s.Usage = s.Usage.Add(r.Usage)
	s.Granted = s.Granted.Add(r.Granted)
	s.Exit = s.Exit || r.Exit
	if s.AuthRequired == "" {
		s.AuthRequired = r.AuthRequired
	}
	for _, t := range r.Tally {
		s.count(t)
	}
}

func (s *Sum) count(t contract.Tally) {
	for i, known := range s.Tally {
		if known.Node == t.Node {
			s.Tally = slices.Clone(s.Tally)
			s.Tally[i] = contract.Tally{
				Node: t.Node, Done: known.Done + t.Done, Failed: known.Failed + t.Failed, Rejected: known.Rejected + t.Rejected,
			}
			return
		}
	}
	s.Tally = append(s.Tally, t)
}

// Join adds the results of nodes that ran side by side, in declared order. A
// rejection among them is theirs all together, and so is a failure when it
// stopped the others or when nothing else came of them.
func (s *Sum) Join(failFast bool, results []contract.NodeResult) {
	var longest time.Duration
	for _, r := range results {
		s.add(r)
		longest = max(longest, r.Worked)
		if !r.Output.IsZero() && r.Outcome != contract.OutcomeCancelled {
			s.Parts = append(s.Parts, r.Output)
		}
	}
	s.Worked += longest
	failed := count(results, contract.OutcomeFailed)
	switch {
	case count(results, contract.OutcomeRejected) > 0:
		first := slices.IndexFunc(results, func(r contract.NodeResult) bool { return r.Outcome == contract.OutcomeRejected })
		s.Outcome, s.Parts = contract.OutcomeRejected, []contract.Text{results[first].Output}
	case failed > 0 && (failFast || failed == len(results)):
		s.Outcome = contract.OutcomeFailed
	case count(results, contract.OutcomeCancelled) == len(results):
		s.Outcome = contract.OutcomeCancelled
	default:
		s.Outcome = contract.OutcomeDone
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

// JoinInline joins outputs, a line each, when all of them and the result are
// short enough for history.
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

// LeaveLoop ends the effect of exit_loop at the loop around it.
func (s *Sum) LeaveLoop() { s.Exit = false }

// Left is what the nodes so far have left of a budget; zero is for ever.
func (s *Sum) Left(budget time.Duration) time.Duration {
	if budget <= 0 {
		return 0
	}
	return max(budget-s.Worked, time.Millisecond)
}

// TimeIsUp reports whether a budget is used up, and notes that as a failure.
func (s *Sum) TimeIsUp(budget time.Duration) bool {
	if budget <= 0 || s.Worked < budget {
		return false
	}
	s.Outcome, s.Output = contract.OutcomeFailed, contract.Inline(TimedOut(budget))
	return true
}

// Shorter is the shorter of two limits, of which zero is none.
func Shorter(a, b time.Duration) time.Duration {
	if a <= 0 || b > 0 && b < a {
		return b
	}
	return a
}

const (
	fastestReport = 300 * time.Millisecond
	reportsShare  = 20 // a node that runs for an hour reports at most every 3 minutes
)

// ReportPace is how long a node waits before it reports again what is not urgent:
// in proportion to how long it has run, so that the number of reports grows only
// with the logarithm of the time.
func ReportPace(running time.Duration) time.Duration {
	return max(fastestReport, running/reportsShare)
}
