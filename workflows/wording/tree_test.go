package wording_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

func leaf(name string) contract.Node { return contract.Node{Name: name, Type: contract.NodeLLM} }

func inside(kind contract.NodeType, name string, nodes ...contract.Node) contract.Node {
	return contract.Node{Name: name, Type: kind, Nodes: nodes}
}

func state(s contract.NodeStatus, nodes ...contract.NodeState) contract.NodeState {
	return contract.NodeState{Status: s, Nodes: nodes}
}

func TestAfterARejectionTheUserIsToldWhatWasDone(t *testing.T) {
	a, b, c, d := leaf("a"), leaf("b"), leaf("c"), leaf("d")
	var many []contract.Node
	for i := range 23 {
		many = append(many, leaf(fmt.Sprintf("n%d", i)))
	}
	tests := map[string]struct {
		root  contract.Node
		tally []contract.Counts
		want  string
	}{
		"done, rejected and skipped": {
			inside(contract.NodeSequential, "p", a, b, c), []contract.Counts{{Node: "a", Done: 1}, {Node: "b", Rejected: 1}},
			"Why.\n\nDone: a.\n\nNot done: b (rejected), c (skipped).",
		},
		"inside each other, in declared order": {
			inside(contract.NodeSequential, "p", inside(contract.NodeParallel, "q", a, b, c), d),
			[]contract.Counts{{Node: "c", Rejected: 1}, {Node: "b", Failed: 1}, {Node: "a", Done: 1}},
			"Why.\n\nDone: a.\n\nNot done: b (failed), c (rejected), d (skipped).",
		},
		"a loop has done some of it before": {
			inside(contract.NodeLoop, "p", a, b, c), []contract.Counts{{Node: "a", Done: 2}, {Node: "b", Done: 1, Rejected: 1}, {Node: "c", Done: 1}},
			"Why.\n\nDone: a (2 times), b, c.\n\nNot done: b (rejected).",
		},
		"nothing was done": {
			inside(contract.NodeParallel, "p", a), []contract.Counts{{Node: "a", Rejected: 1}}, "Why.\n\nNot done: a (rejected).",
		},
		"too many to list": {
			inside(contract.NodeSequential, "p", many...), nil,
			"Why.\n\nNot done: n0 (skipped), n1 (skipped), n2 (skipped), n3 (skipped), n4 (skipped), n5 (skipped), n6 (skipped), " +
				"n7 (skipped), n8 (skipped), n9 (skipped), n10 (skipped), n11 (skipped), n12 (skipped), n13 (skipped), n14 (skipped), " +
				"n15 (skipped), n16 (skipped), n17 (skipped), n18 (skipped), n19 (skipped) and 3 more.",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := contract.NodeResult{Outcome: contract.OutcomeRejected, Output: contract.Inline("Why."), Counts: tt.tally}
			equal(t, "reply", wording.AfterRejectedNode(tt.root, r), tt.want)
		})
	}
}

func TestNodeDetailsShowTheNodesInside(t *testing.T) {
	n := inside(contract.NodeSequential, "pipeline", leaf("find"), inside(contract.NodeParallel, "both"), leaf("report"))
	got := wording.NodeDetails(n, state(contract.NodeRunning, state(contract.NodeDone), state(contract.NodeRunning)), nil, here)
	equal(t, "details", got, "### pipeline · sequential · running\n\n"+
		"1. **find** (llm): done\n2. **both** (parallel): running\n3. **report** (llm): pending\n")
}

func TestNodeDetailsOfStatesThatAreFoldedSayThatTheyEnded(t *testing.T) {
	folded := contract.NewBlob([]byte("[]"))
	n := inside(contract.NodeSequential, "pipeline", leaf("a"), leaf("b"), leaf("c"))
	s := contract.NodeState{Status: contract.NodeRunning, Offloaded: &folded, Nodes: []contract.NodeState{state(contract.NodeRunning), {}}}
	equal(t, "details", wording.NodeDetails(n, s, nil, here), "### pipeline · sequential · running\n\n"+
		"1. **a** (llm): ended\n2. **b** (llm): running\n3. **c** (llm): pending\n")
}

func TestNodeDetailsOfALoopCountItsIterations(t *testing.T) {
	n := inside(contract.NodeLoop, "refine", leaf("draft"))
	s := state(contract.NodeRunning, state(contract.NodeRunning))
	s.Iteration = 3
	equal(t, "details", wording.NodeDetails(n, s, nil, here),
		"### refine · loop · running · iteration 3 of at most 10\n\n1. **draft** (llm): running\n")
}

func TestNodeDetailsShowWhatWaitsAndHowToAnswer(t *testing.T) {
	open := []contract.OpenApproval{
		{Approval: contract.PendingApproval{UUID: approvalID, Description: "**A**\n\n# not ours", CreatedAt: since}},
		{Approval: contract.PendingApproval{UUID: "other", Description: "**B**", CreatedAt: since.Add(time.Hour)}},
	}
	got := wording.NodeDetails(inside(contract.NodeParallel, "both", leaf("a")), state(contract.NodeRunning, state(contract.NodeWaiting)), open, here)
	for _, want := range []string{
		"1. **a** (llm): waiting\n",
		"Approval `approval-" + approvalID + "` waits since 2026-03-14 12:00:00 UTC.\n\n> **A**\n> \n> # not ours\n",
		approveCommand, "Approval `approval-other` waits since 2026-03-14 13:00:00 UTC.\n\n> **B**\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("details lack %q:\n%s", want, got)
		}
	}
}

func TestNodeTexts(t *testing.T) {
	equal(t, "summary", wording.NodeSummary(inside(contract.NodeParallel, "both", leaf("a"), leaf("b"))), "both · parallel of 2")
	equal(t, "signed", wording.WithNodeName("find", "two lines\nhere"), "[find] two lines\nhere")
	equal(t, "timed out", wording.TimedOut(90*time.Second), "Timed out after 1m30s of work.")
	equal(t, "pipeline error", wording.PipelineError(wording.Failure{Message: "terminated"}), "Pipeline error: terminated")
}
