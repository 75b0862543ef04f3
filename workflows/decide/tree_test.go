package decide_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/decide"
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
		tally []contract.Tally
		want  string
	}{
		"done, rejected and skipped": {
			inside(contract.NodeSequential, "p", a, b, c), []contract.Tally{{Node: "a", Done: 1}, {Node: "b", Rejected: 1}},
			"Why.\n\nDone: a.\n\nNot done: b (rejected), c (skipped).",
		},
		"inside each other, in declared order": {
			inside(contract.NodeSequential, "p", inside(contract.NodeParallel, "q", a, b, c), d),
			[]contract.Tally{{Node: "c", Rejected: 1}, {Node: "b", Failed: 1}, {Node: "a", Done: 1}},
			"Why.\n\nDone: a.\n\nNot done: b (failed), c (rejected), d (skipped).",
		},
		"a loop has done some of it before": {
			inside(contract.NodeLoop, "p", a, b, c), []contract.Tally{{Node: "a", Done: 2}, {Node: "b", Done: 1, Rejected: 1}, {Node: "c", Done: 1}},
			"Why.\n\nDone: a (2 times), b, c.\n\nNot done: b (rejected).",
		},
		"nothing was done": {
			inside(contract.NodeParallel, "p", a), []contract.Tally{{Node: "a", Rejected: 1}}, "Why.\n\nNot done: a (rejected).",
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
			r := came(contract.OutcomeRejected, "Why.")
			r.Tally = tt.tally
			equal(t, "reply", decide.AfterRejectedNode(tt.root, r), tt.want)
		})
	}
}

func TestLeavesAreCounted(t *testing.T) {
	var s decide.Sum
	for _, o := range []contract.Outcome{contract.OutcomeDone, contract.OutcomeDone, contract.OutcomeFailed, contract.OutcomeRejected, contract.OutcomeCancelled} {
		s.Then(decide.Counted(leaf("a"), came(o, "x")))
	}
	s.Then(decide.Counted(leaf("b"), came(contract.OutcomeDone, "x")))
	equal(t, "tally", s.Result().Tally, []contract.Tally{{Node: "a", Done: 2, Failed: 1, Rejected: 1}, {Node: "b", Done: 1}})
}

func TestNodeDetailsShowTheNodesInside(t *testing.T) {
	n := inside(contract.NodeSequential, "pipeline", leaf("find"), inside(contract.NodeParallel, "both"), leaf("report"))
	got := decide.NodeDetails(n, state(contract.NodeRunning, state(contract.NodeDone), state(contract.NodeRunning)), nil, here)
	equal(t, "details", got, "### pipeline · sequential · running\n\n"+
		"1. **find** (llm): done\n2. **both** (parallel): running\n3. **report** (llm): pending\n")
}

func TestNodeDetailsOfStatesThatAreFoldedSayThatTheyEnded(t *testing.T) {
	folded := contract.NewBlob([]byte("[]"))
	n := inside(contract.NodeSequential, "pipeline", leaf("a"), leaf("b"), leaf("c"))
	s := contract.NodeState{Status: contract.NodeRunning, Folded: &folded, Nodes: []contract.NodeState{state(contract.NodeRunning), {}}}
	equal(t, "details", decide.NodeDetails(n, s, nil, here), "### pipeline · sequential · running\n\n"+
		"1. **a** (llm): ended\n2. **b** (llm): running\n3. **c** (llm): pending\n")
}

func TestNodeDetailsOfALoopCountItsIterations(t *testing.T) {
	n := inside(contract.NodeLoop, "refine", leaf("draft"))
	s := state(contract.NodeRunning, state(contract.NodeRunning))
	s.Iteration = 3
	equal(t, "details", decide.NodeDetails(n, s, nil, here),
		"### refine · loop · running · iteration 3 of at most 10\n\n1. **draft** (llm): running\n")
}

func TestNodeDetailsShowWhatWaitsAndHowToAnswer(t *testing.T) {
	open := []contract.OpenApproval{
		{Approval: contract.PendingApproval{UUID: approvalID, Description: "**A**\n\n# not ours", CreatedAt: since}},
		{Approval: contract.PendingApproval{UUID: "other", Description: "**B**", CreatedAt: since.Add(time.Hour)}},
	}
	got := decide.NodeDetails(inside(contract.NodeParallel, "both", leaf("a")), state(contract.NodeRunning, state(contract.NodeWaiting)), open, here)
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
	equal(t, "summary", decide.NodeSummary(inside(contract.NodeParallel, "both", leaf("a"), leaf("b"))), "both · parallel of 2")
	equal(t, "signed", decide.Signed("find", "two lines\nhere"), "[find] two lines\nhere")
	equal(t, "timed out", decide.TimedOut(90*time.Second), "Timed out after 1m30s of work.")
	equal(t, "pipeline error", decide.PipelineError(decide.Failure{Message: "terminated"}), "Pipeline error: terminated")
}

func TestAnApprovalInATreeIsAskedForInFewerWords(t *testing.T) {
	equal(t, "request", decide.ApprovalRequest("**X**", "u-1", true), "This action requires approval:\n\n**X**\n\nApproval UUID: u-1")
}

func peerCall(message string) contract.Call {
	raw, _ := json.Marshal(map[string]string{"message": message})
	return contract.Call{Name: "a2a_writer", Peer: &contract.Peer{Name: "writer"}, Arguments: contract.JSON{Raw: raw}}
}

func TestADelegationIsDescribed(t *testing.T) {
	b := contract.NewBlob([]byte(`{"message":"` + strings.Repeat("x", 9000) + `"}`))
	long := peerCall("")
	long.Arguments = contract.JSON{Blob: &b}
	tests := map[string]struct{ got, want string }{
		"by an agent that is one node": {decide.Describe(peerCall("write it"), ""), "**DELEGATE to A2A Agent: writer**\n\nMessage: write it"},
		"in a tree":                    {decide.Describe(peerCall("a\nb"), "ask"), "[ask] Delegate to A2A agent: writer\n\nMessage:\n\n> a\n> b"},
		"too large":                    {decide.Describe(long, "ask"), "[ask] Delegate to A2A agent: writer\n\nMessage: " + b.Preview + "… (9014 bytes)"},
		"without a message":            {decide.Describe(contract.Call{Peer: &contract.Peer{Name: "writer"}}, "ask"), "[ask] Delegate to A2A agent: writer\n\nMessage: <nil>"},
		"what the other agent asks":    {decide.DescribeProxy("writer", "", "Delete it?", "front", nil), "**PROXY APPROVAL — A2A Agent: writer**\n\nDelete it?"},
		"what it asks, in a tree":      {decide.DescribeProxy("writer", "ask", "Delete it?", "front", nil), "[ask] Proxy approval for A2A agent: writer\n\nDelete it?"},
		"a tool of a node in a tree":   {decide.Describe(call("resources_add", `{"name":"a","value":1}`), "ask"), "**ADD Resource**\n\nName: a\nValue: 1"},
		"a login":                      {decide.TaskAuthRequired("writer"), "Authentication required by A2A agent writer."},
		"a lost delegation":            {decide.DelegationFailure(decide.Failure{Lost: true, Message: "x"}), "A2A error: no answer in time."},
		"a failed delegation":          {decide.DelegationFailure(decide.Failure{Message: "refused"}), "A2A error: refused"},
		"an agent that was not told":   {decide.RemoteNotTold("writer", decide.Failure{Message: "refused"}), "The agent writer could not be told: A2A error: refused"},
		"summary":                      {decide.DelegateSummary(contract.DelegateInput{Peer: contract.Peer{Name: "writer"}}), "delegate to writer"},
		"summary of an answer":         {decide.DelegateSummary(contract.DelegateInput{Peer: contract.Peer{Name: "writer"}, Decision: contract.Rejected}), "tell writer: rejected"},
	}
	for name, tt := range tests {
		equal(t, name, tt.got, tt.want)
	}
}

func TestWhatARemoteTaskCameToIsAToolsResult(t *testing.T) {
	tests := map[string]struct {
		in   contract.DelegateResult
		want contract.CallToolResult
	}{
		"completed":             {contract.DelegateResult{State: contract.TaskCompleted, Text: contract.Inline("ok"), Note: "n"}, contract.CallToolResult{Text: contract.Inline("ok"), Note: "n"}},
		"completed, speechless": {contract.DelegateResult{State: contract.TaskCompleted}, contract.CallToolResult{}},
		"failed":                {contract.DelegateResult{State: contract.TaskFailed, Text: contract.Inline("no")}, failed("no")},
		"failed, speechless":    {contract.DelegateResult{State: contract.TaskFailed}, failed("A2A error: the task ended as failed.")},
		"rejected":              {contract.DelegateResult{State: contract.TaskRejected, Text: contract.Inline("no")}, failed("no")},
		"canceled":              {contract.DelegateResult{State: contract.TaskCanceled}, failed("A2A error: the task ended as canceled.")},
	}
	for name, tt := range tests {
		equal(t, name, decide.Delegated(tt.in), tt.want)
	}
	equal(t, "failed for good", decide.DelegationFailure(decide.Failure{Message: "refused"}), "A2A error: refused")
}

func TestWhatAnotherAgentAsksShowsTheCallBehindIt(t *testing.T) {
	origin := func(change func(*contract.Origin)) *contract.Origin {
		o := &contract.Origin{Chain: []string{"writer", "archive"}, Tool: "files_delete", Arguments: contract.JSON{Raw: json.RawMessage(`{"path":"/a"}`)}}
		change(o)
		return o
	}
	for name, tt := range map[string]struct {
		node   string
		origin *contract.Origin
		want   string
	}{
		"nothing is known": {"", nil, "**PROXY APPROVAL — A2A Agent: writer**\n\nSure?"},
		"through another agent": {"", origin(func(*contract.Origin) {}),
			"**PROXY APPROVAL — A2A Agent: writer**\n\nSure?\n\nThrough: front → writer → archive\nTool: files_delete\nArgs: {\n  \"path\": \"/a\"\n}"},
		"in a tree, without arguments": {"ask", origin(func(o *contract.Origin) { o.Arguments = contract.JSON{} }),
			"[ask] Proxy approval for A2A agent: writer\n\nSure?\n\nThrough: front → writer → archive\nTool: files_delete\nArgs: {}"},
		"without a chain and a tool": {"", &contract.Origin{UUID: "u1"},
			"**PROXY APPROVAL — A2A Agent: writer**\n\nSure?\n\nThrough: front → writer"},
	} {
		equal(t, name, decide.DescribeProxy("writer", tt.node, "Sure?", "front", tt.origin), tt.want)
	}
}

func TestATaskIsLookedAtEverMoreRarely(t *testing.T) {
	long := decide.History{Events: 20_000}
	for name, tt := range map[string]struct{ got, want time.Duration }{
		"at once":                     {decide.WorkPause(0, decide.History{}), 2 * time.Second},
		"after ten minutes of work":   {decide.WorkPause(10*time.Minute, decide.History{}), 30 * time.Second},
		"after a day of work":         {decide.WorkPause(24*time.Hour, decide.History{}), 5 * time.Minute},
		"work with a long history":    {decide.WorkPause(time.Minute, long), time.Hour},
		"just waiting":                {decide.WatchPause(0, decide.History{}), 2 * time.Second},
		"after an hour of waiting":    {decide.WatchPause(time.Hour, decide.History{}), 3 * time.Minute},
		"after a week of waiting":     {decide.WatchPause(7*24*time.Hour, decide.History{}), 30 * time.Minute},
		"waiting with a long history": {decide.WatchPause(time.Minute, long), 24 * time.Hour},
		"work with a large history":   {decide.WorkPause(time.Minute, decide.History{Bytes: 16 << 20}), time.Hour},
		"waiting with a large one":    {decide.WatchPause(time.Minute, decide.History{Bytes: 16 << 20}), 24 * time.Hour},
		"work with no room left":      {decide.WorkPause(time.Minute, decide.History{Events: 40_000}), 24 * time.Hour},
	} {
		equal(t, name, tt.got, tt.want)
	}
}

func TestATaskThatAsksForTheSameThingStillWaits(t *testing.T) {
	waits := func(uuid string) contract.DelegateResult {
		return contract.DelegateResult{State: contract.TaskInputRequired, Asked: &contract.Origin{UUID: uuid}}
	}
	plain := contract.DelegateResult{State: contract.TaskInputRequired}
	says := func(uuid, text string) contract.DelegateResult {
		r := waits(uuid)
		r.Text = contract.Inline(text)
		return r
	}
	long := func(data string) contract.DelegateResult {
		blob := contract.NewBlob([]byte(data))
		return contract.DelegateResult{State: contract.TaskInputRequired, Text: contract.Text{Blob: &blob}}
	}
	for name, tt := range map[string]struct {
		known, now contract.DelegateResult
		same       bool
	}{
		"the same":           {waits("a"), waits("a"), true},
		"another":            {waits("a"), waits("b"), false},
		"an agent of others": {plain, plain, true},
		"other words":        {says("", "a?"), says("", "b?"), false},
		"the same words":     {says("", "a?"), says("", "a?"), true},
		"long words":         {long("a?"), long("a?"), true},
		"other long words":   {long("a?"), long("b?"), false},
		"no words":           {says("", "a?"), plain, true},
		"words with an ID":   {says("a", "a?"), says("a", "still?"), true},
		"it wants a login":   {waits("a"), contract.DelegateResult{State: contract.TaskAuthRequired}, true},
		"it works":           {waits("a"), contract.DelegateResult{State: contract.TaskWorking, Asked: waits("a").Asked}, false},
		"it is over":         {plain, contract.DelegateResult{State: contract.TaskCompleted}, false},
	} {
		equal(t, name, decide.SameQuestion(tt.known, tt.now), tt.same)
	}
}

func TestWhatIsSaidOfAnotherAgentsTask(t *testing.T) {
	peer := contract.Peer{Name: "writer"}
	for got, want := range map[string]string{
		decide.NotFinished("writer", time.Hour):       "A2A error: agent writer had not finished after 1h; the task was cancelled.",
		decide.NotFinished("writer", 90*time.Minute):  "A2A error: agent writer had not finished after 1h30m; the task was cancelled.",
		decide.NotFinished("writer", 10*time.Minute):  "A2A error: agent writer had not finished after 10m; the task was cancelled.",
		decide.NotFinished("writer", 100*time.Second): "A2A error: agent writer had not finished after 1m40s; the task was cancelled.",

		decide.DecidedElsewhere("writer", contract.TaskCompleted):     "decided elsewhere: the task of agent writer is now completed",
		decide.DecidedElsewhere("writer", contract.TaskInputRequired): "decided elsewhere: the task of agent writer now asks for something else",

		decide.NeverTold("writer", decide.Failure{Kind: contract.KindPeerFailed, Message: "no such task"}, time.Hour): "The agent writer could not be told: A2A error: no such task",
		decide.NeverTold("writer", decide.Failure{Kind: contract.KindTimeout, Lost: true}, 30*24*time.Hour):           "The agent writer could not be told within 30 days: A2A error: no answer in time.",
		decide.RemoteToldLater("writer", "delivery-1"):                                                                "The agent writer could not be told yet; it is tried again until it hears of it (workflow delivery-1).",
		decide.DelegateSummary(contract.DelegateInput{Peer: peer}):                                                    "delegate to writer",
		decide.DelegateSummary(contract.DelegateInput{Peer: peer, TaskID: "t"}):                                       "look at the task of writer",
		decide.DelegateSummary(contract.DelegateInput{Peer: peer, TaskID: "t", Decision: contract.Rejected}):          "tell writer: rejected",
		decide.DelegateSummary(contract.DelegateInput{Peer: peer, TaskID: "t", Cancel: true}):                         "tell writer: cancel the task",
	} {
		equal(t, want, got, want)
	}
}

func TestAModelCallInATreeIsSummedUpWithItsNode(t *testing.T) {
	in := contract.GenerateInput{Model: "demo:rules", Transcript: contract.Transcript{Tail: make([]contract.Message, 2)},
		Before: &contract.Transcript{Tail: make([]contract.Message, 3)}}
	equal(t, "in a tree", decide.GenerateSummary(in, "find"), "find · demo:rules · 5 messages")
	in.Before = nil
	equal(t, "alone", decide.GenerateSummary(in, ""), "demo:rules · 2 messages")
}
