package wording_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/delegation"
	"agent-stop-and-go/workflows/wording"
)

func peerCall(message string) contract.Call {
	raw, _ := json.Marshal(map[string]string{"message": message})
	return contract.Call{Name: "a2a_writer", Peer: &contract.Peer{Name: "writer"}, Arguments: contract.JSON{Raw: raw}}
}

var ended = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestADelegationIsDescribed(t *testing.T) {
	b := contract.NewBlob([]byte(`{"message":"` + strings.Repeat("x", 9000) + `"}`))
	long := peerCall("")
	long.Arguments = contract.JSON{Blob: &b}
	tests := map[string]struct{ got, want string }{
		"by an agent that is one node": {wording.Describe(peerCall("write it"), ""), "**DELEGATE to A2A Agent: writer**\n\nMessage: write it"},
		"in a tree":                    {wording.Describe(peerCall("a\nb"), "ask"), "[ask] Delegate to A2A agent: writer\n\nMessage:\n\n> a\n> b"},
		"too large":                    {wording.Describe(long, "ask"), "[ask] Delegate to A2A agent: writer\n\nMessage: " + b.Preview + "… (9014 bytes)"},
		"without a message":            {wording.Describe(contract.Call{Peer: &contract.Peer{Name: "writer"}}, "ask"), "[ask] Delegate to A2A agent: writer\n\nMessage: <nil>"},
		"what the other agent asks":    {wording.DescribeProxy("writer", "", "Delete it?", "front", nil), "**PROXY APPROVAL — A2A Agent: writer**\n\nDelete it?"},
		"what it asks, in a tree":      {wording.DescribeProxy("writer", "ask", "Delete it?", "front", nil), "[ask] Proxy approval for A2A agent: writer\n\nDelete it?"},
		"what is continued":            {wording.Continued("**D**\n\nMessage: x", delegation.Point{ContextID: "c\nd", TaskID: strings.Repeat("t", 101), EndedAt: ended, Since: ended}), "**D**\n\nContinues its task \"" + strings.Repeat("t", 100) + "…\" (ended 2026-03-01 12:00 UTC) in its context \"c\\nd\" (since 2026-03-01 12:00 UTC): that agent knows what was said there.\n\nMessage: x"},
		"an earlier message":           {wording.Continued("**D**", delegation.Point{ContextID: "c"}), "**D**\n\nContinues in its context \"c\": that agent knows what was said there."},
		"a tool of a node in a tree":   {wording.Describe(call("resources_add", `{"name":"a","value":1}`), "ask"), "**ADD Resource**\n\nName: a\nValue: 1"},
		"a login":                      {wording.TaskAuthRequired("writer"), "Authentication required by A2A agent writer."},
		"a lost delegation":            {wording.DelegationFailure(wording.Failure{Lost: true, Message: "x"}), "A2A error: no answer in time."},
		"a failed delegation":          {wording.DelegationFailure(wording.Failure{Message: "refused"}), "A2A error: refused"},
		"an agent that was not told":   {wording.RemoteNotReached("writer", wording.Failure{Message: "refused"}), "The agent writer could not be told: A2A error: refused"},
		"summary":                      {wording.DelegateSummary(contract.DelegateInput{Peer: contract.Peer{Name: "writer"}}), "delegate to writer"},
		"summary of an answer":         {wording.DelegateSummary(contract.DelegateInput{Peer: contract.Peer{Name: "writer"}, Decision: contract.Rejected}), "tell writer: rejected"},
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
		equal(t, name, wording.DelegationResult(tt.in), tt.want)
	}
	equal(t, "failed for good", wording.DelegationFailure(wording.Failure{Message: "refused"}), "A2A error: refused")
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
		equal(t, name, wording.DescribeProxy("writer", tt.node, "Sure?", "front", tt.origin), tt.want)
	}
}

func TestWhatIsSaidOfAnotherAgentsTask(t *testing.T) {
	peer := contract.Peer{Name: "writer"}
	for got, want := range map[string]string{
		wording.NotFinished("writer", time.Hour):       "A2A error: agent writer had not finished after 1h; the task was cancelled.",
		wording.NotFinished("writer", 90*time.Minute):  "A2A error: agent writer had not finished after 1h30m; the task was cancelled.",
		wording.NotFinished("writer", 10*time.Minute):  "A2A error: agent writer had not finished after 10m; the task was cancelled.",
		wording.NotFinished("writer", 100*time.Second): "A2A error: agent writer had not finished after 1m40s; the task was cancelled.",

		wording.DecidedElsewhere("writer", contract.TaskCompleted):     "decided elsewhere: the task of agent writer is now completed",
		wording.DecidedElsewhere("writer", contract.TaskInputRequired): "decided elsewhere: the task of agent writer now asks for something else",

		wording.DeliveryFailed("writer", wording.Failure{Kind: contract.KindPeerFailed, Message: "no such task"}, time.Hour): "The agent writer could not be told: A2A error: no such task",
		wording.DeliveryFailed("writer", wording.Failure{Kind: contract.KindTimeout, Lost: true}, 30*24*time.Hour):           "The agent writer could not be told within 30 days: A2A error: no answer in time.",
		wording.RemoteDeliveryStarted("writer", "delivery-1"):                                                                "The agent writer could not be told yet; it is tried again until it hears of it (workflow delivery-1).",
		wording.DelegateSummary(contract.DelegateInput{Peer: peer}):                                                          "delegate to writer",
		wording.DelegateSummary(contract.DelegateInput{Peer: peer, TaskID: "t"}):                                             "look at the task of writer",
		wording.DelegateSummary(contract.DelegateInput{Peer: peer, TaskID: "t", Decision: contract.Rejected}):                "tell writer: rejected",
		wording.DelegateSummary(contract.DelegateInput{Peer: peer, TaskID: "t", Cancel: true}):                               "tell writer: cancel the task",
	} {
		equal(t, want, got, want)
	}
}
