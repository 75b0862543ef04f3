package decide_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/decide"
)

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func came(o contract.Outcome, output string) contract.NodeResult {
	return contract.NodeResult{Outcome: o, Output: contract.Inline(output)}
}

func leaf(name string) contract.Node { return contract.Node{Name: name, Type: contract.NodeLLM} }

func set(k, v string) contract.Value { return contract.Value{Key: k, Text: contract.Inline(v)} }

func TestANodesResultIsSettledByItsOwnSettings(t *testing.T) {
	keyed := contract.Node{OutputKey: "k"}
	lenient := contract.Node{OutputKey: "k", OnReject: contract.OnRejectContinue}
	tests := map[string]struct {
		node    contract.Node
		in      contract.NodeResult
		outcome contract.Outcome
		delta   contract.State
	}{
		"an output is kept under its key":              {keyed, came(contract.OutcomeDone, "x"), contract.OutcomeDone, contract.State{set("k", "x")}},
		"an output without a key is not kept":          {contract.Node{}, came(contract.OutcomeDone, "x"), contract.OutcomeDone, nil},
		"an empty output is not kept":                  {keyed, came(contract.OutcomeDone, ""), contract.OutcomeDone, nil},
		"a failure is not kept":                        {keyed, came(contract.OutcomeFailed, "x"), contract.OutcomeFailed, nil},
		"a cancellation is not kept":                   {keyed, came(contract.OutcomeCancelled, "x"), contract.OutcomeCancelled, nil},
		"a rejection is not kept":                      {keyed, came(contract.OutcomeRejected, "x"), contract.OutcomeRejected, nil},
		"a rejection may be an output like any other":  {lenient, came(contract.OutcomeRejected, "x"), contract.OutcomeDone, contract.State{set("k", "x")}},
		"a failure is no output even where one may go": {lenient, came(contract.OutcomeFailed, "x"), contract.OutcomeFailed, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := decide.ApplySettings(tt.node, tt.in)
			equal(t, "outcome", got.Outcome, tt.outcome)
			equal(t, "delta", got.Delta, tt.delta)
			equal(t, "output", got.Output, tt.in.Output)
		})
	}
}

func TestACompositesOwnKeyComesAfterThoseInside(t *testing.T) {
	in := came(contract.OutcomeDone, "all")
	in.Delta = contract.State{set("a", "1"), set("b", "2")}
	got := decide.ApplySettings(contract.Node{OutputKey: "a"}, in)
	equal(t, "delta", got.Delta, contract.State{set("a", "all"), set("b", "2")})
	equal(t, "the result that came in", in.Delta, contract.State{set("a", "1"), set("b", "2")})
}

func TestWhatEndsASequence(t *testing.T) {
	tests := map[string]struct {
		result contract.NodeResult
		last   bool
	}{
		"a done node does not":     {came(contract.OutcomeDone, "x"), false},
		"a failed node does not":   {came(contract.OutcomeFailed, "x"), false},
		"a rejection does":         {came(contract.OutcomeRejected, "x"), true},
		"a cancellation does":      {came(contract.OutcomeCancelled, "x"), true},
		"exit_loop does":           {contract.NodeResult{Outcome: contract.OutcomeDone, Exit: true}, true},
		"a demand to log in does":  {contract.NodeResult{Outcome: contract.OutcomeFailed, AuthRequired: "files"}, true},
		"one among done ones does": {contract.NodeResult{Outcome: contract.OutcomeDone, AuthRequired: "files"}, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var m decide.Merge
			equal(t, "last", m.AddStep(tt.result), tt.last)
		})
	}
}

func TestASequenceIsTheMergeOfItsNodes(t *testing.T) {
	var m decide.Merge
	m.AddStep(contract.NodeResult{
		Outcome: contract.OutcomeDone, Output: contract.Inline("one"), Delta: contract.State{set("a", "1"), set("b", "1")},
		Usage: contract.Usage{InputTokens: 1, OutputTokens: 2}, Worked: time.Second,
	})
	m.AddStep(contract.NodeResult{
		Outcome: contract.OutcomeFailed, Delta: contract.State{set("a", "2")},
		Usage: contract.Usage{InputTokens: 10, CachedTokens: 3}, Worked: 2 * time.Second, AuthRequired: "files",
	})
	m.AddStep(contract.NodeResult{Outcome: contract.OutcomeDone, AuthRequired: "other"})
	equal(t, "result", m.Result(), contract.NodeResult{
		Outcome: contract.OutcomeDone, Output: contract.Inline("one"), Delta: contract.State{set("a", "2"), set("b", "1")},
		Usage: contract.Usage{InputTokens: 11, OutputTokens: 2, CachedTokens: 3}, Worked: 3 * time.Second, AuthRequired: "files",
	})
}

func TestAMergeGoesOnFromItsResult(t *testing.T) {
	var m decide.Merge
	m.AddStep(contract.NodeResult{
		Outcome: contract.OutcomeDone, Output: contract.Inline("one"), Delta: contract.State{set("a", "1")}, Worked: time.Second, Exit: true,
	})
	again := decide.ResumeMerge(m.Result())
	equal(t, "merge", again, m)
}

func TestASequenceOfNothingIsDone(t *testing.T) {
	var m decide.Merge
	equal(t, "outcome", m.Result().Outcome, contract.OutcomeDone)
}

func TestExitLoopEndsOnlyTheLoopAround(t *testing.T) {
	m := decide.Merge{Exit: true}
	m.LeaveLoop()
	equal(t, "exit", m.Result().Exit, false)
}

func TestBranchesAreJoined(t *testing.T) {
	done, failed := came(contract.OutcomeDone, "d"), came(contract.OutcomeFailed, "f")
	rejected, cancelled := came(contract.OutcomeRejected, "r"), came(contract.OutcomeCancelled, "c")
	tests := map[string]struct {
		failFast bool
		results  []contract.NodeResult
		outcome  contract.Outcome
		parts    string
	}{
		"all done":                                {false, []contract.NodeResult{done, done}, contract.OutcomeDone, "d d"},
		"a branch without output":                 {false, []contract.NodeResult{done, came(contract.OutcomeDone, ""), done}, contract.OutcomeDone, "d d"},
		"a failure is a text among others":        {false, []contract.NodeResult{failed, done}, contract.OutcomeDone, "f d"},
		"a failure that stopped the others":       {true, []contract.NodeResult{cancelled, failed, done}, contract.OutcomeFailed, "f d"},
		"all failed":                              {false, []contract.NodeResult{failed, failed}, contract.OutcomeFailed, "f f"},
		"all cancelled":                           {false, []contract.NodeResult{cancelled, cancelled}, contract.OutcomeCancelled, ""},
		"some cancelled":                          {false, []contract.NodeResult{cancelled, done}, contract.OutcomeDone, "d"},
		"a rejection is of all of them":           {false, []contract.NodeResult{done, rejected, failed}, contract.OutcomeRejected, "r"},
		"the first rejection speaks":              {false, []contract.NodeResult{came(contract.OutcomeRejected, "1"), came(contract.OutcomeRejected, "2")}, contract.OutcomeRejected, "1"},
		"a rejection counts more than a failure":  {true, []contract.NodeResult{rejected, failed}, contract.OutcomeRejected, "r"},
		"nothing fails where nothing has to stop": {true, []contract.NodeResult{done, done}, contract.OutcomeDone, "d d"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var m decide.Merge
			m.AddBranches(tt.failFast, tt.results)
			equal(t, "outcome", m.Outcome, tt.outcome)
			var parts []string
			for _, p := range m.Outputs {
				parts = append(parts, p.Inline)
			}
			equal(t, "parts", strings.Join(parts, " "), tt.parts)
		})
	}
}

func TestBranchesAreMergedInDeclaredOrder(t *testing.T) {
	var m decide.Merge
	m.AddBranches(false, []contract.NodeResult{
		{Outcome: contract.OutcomeDone, Delta: contract.State{set("x", "first"), set("a", "1")}, Worked: 3 * time.Second, Usage: contract.Usage{InputTokens: 1}},
		{Outcome: contract.OutcomeDone, Delta: contract.State{set("x", "second")}, Worked: time.Second, AuthRequired: "files", Usage: contract.Usage{InputTokens: 2}},
		{Outcome: contract.OutcomeDone, AuthRequired: "other", Exit: true},
	})
	equal(t, "result", m.Result(), contract.NodeResult{
		Outcome: contract.OutcomeDone, Delta: contract.State{set("x", "second"), set("a", "1")}, Worked: 3 * time.Second,
		AuthRequired: "files", Exit: true, Usage: contract.Usage{InputTokens: 3},
	})
}

func TestShortOutputsAreJoinedWithoutTheStore(t *testing.T) {
	b := contract.NewBlob([]byte("x"))
	full := strings.Repeat("x", contract.InlineLimit)
	tests := map[string]struct {
		parts []contract.Text
		text  string
		ok    bool
	}{
		"nothing":         {nil, "", true},
		"one":             {[]contract.Text{contract.Inline("a")}, "a", true},
		"a line each":     {[]contract.Text{contract.Inline("a"), contract.Inline("b")}, "a\nb", true},
		"just short":      {[]contract.Text{contract.Inline(full)}, full, true},
		"together long":   {[]contract.Text{contract.Inline(full), contract.Inline("")}, full + "\n", false},
		"one lives there": {[]contract.Text{contract.Inline("a"), {Blob: &b}}, "", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			text, ok := decide.JoinInline(tt.parts)
			equal(t, "ok", ok, tt.ok)
			if ok {
				equal(t, "text", text.Inline, tt.text)
			}
		})
	}
}

func TestABudgetIsShared(t *testing.T) {
	m := decide.Merge{Worked: 40 * time.Second}
	equal(t, "left of a minute", m.TimeLeft(time.Minute), 20*time.Second)
	equal(t, "left of for ever", m.TimeLeft(0), time.Duration(0))
	equal(t, "left of less than was used is not for ever", m.TimeLeft(30*time.Second), time.Millisecond)
	equal(t, "for ever is never over", m.TimeIsUp(0), false)
	equal(t, "before", m.TimeIsUp(41*time.Second), false)
	equal(t, "outcome before", m.Outcome, contract.Outcome(""))
	equal(t, "at the end", m.TimeIsUp(40*time.Second), true)
	equal(t, "result", m.Result(), contract.NodeResult{
		Outcome: contract.OutcomeFailed, Output: contract.Inline("Timed out after 40s of work."), Worked: 40 * time.Second,
	})
}

func TestTheShorterLimitCounts(t *testing.T) {
	for _, tt := range [][3]time.Duration{{0, 0, 0}, {1, 0, 1}, {0, 1, 1}, {1, 2, 1}, {2, 1, 1}, {3, 3, 3}, {-1, 2, 2}, {2, -1, 2}} {
		equal(t, "of "+tt[0].String()+" and "+tt[1].String(), decide.Shorter(tt[0], tt[1]), tt[2])
	}
}

func TestReportsAreFewHoweverLongANodeRuns(t *testing.T) {
	count := func(d time.Duration) (n int) {
		for at := time.Duration(0); at < d; at += decide.ReportPace(at) {
			n++
		}
		return n
	}
	if n := count(3 * time.Second); n < 5 {
		t.Errorf("%d reports in the first seconds: too few to watch it", n)
	}
	if n := count(24 * time.Hour); n > 250 {
		t.Errorf("%d reports in a day", n)
	}
	if n := count(365 * 24 * time.Hour); n > 400 {
		t.Errorf("%d reports in a year", n)
	}
	equal(t, "a clock that stands still", decide.ReportPace(0), 300*time.Millisecond)
	equal(t, "a clock that went back", decide.ReportPace(-time.Hour), 300*time.Millisecond)
}

func TestLeavesAreCounted(t *testing.T) {
	var m decide.Merge
	for _, o := range []contract.Outcome{contract.OutcomeDone, contract.OutcomeDone, contract.OutcomeFailed, contract.OutcomeRejected, contract.OutcomeCancelled} {
		m.AddStep(decide.WithCount(leaf("a"), came(o, "x")))
	}
	m.AddStep(decide.WithCount(leaf("b"), came(contract.OutcomeDone, "x")))
	equal(t, "tally", m.Result().Counts, []contract.Counts{{Node: "a", Done: 2, Failed: 1, Rejected: 1}, {Node: "b", Done: 1}})
}
