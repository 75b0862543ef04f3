package wording_test

import (
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const (
	conversationID = "3f1f7a52-6c1e-4a7e-9d55-0a4f8d2b1c01"
	approvalID     = "5b0c0f6e-2d3a-5a4f-8a39-6e9b1f1a2b02"
	approveCommand = "temporal workflow signal \\\n  --workflow-id \\\n    approval-" + approvalID + " \\\n  --name decide \\\n" +
		`  --input '{"approved":true,"by":"'"$USER"'"}'`
)

// here is a server that the CLI finds without flags.
var here = wording.Console{Address: "127.0.0.1:7233", Namespace: "default"}

// since is noon in UTC, written in another zone.
var since = time.Date(2026, 3, 14, 13, 0, 0, 123, time.FixedZone("CET", 3600))

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := "testdata/" + name + ".md"
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s; if that is meant: go generate ./workflows/wording (-golden +got):\n%s", path, diff)
	}
}

func waiting() contract.ApprovalView {
	c := call("resources_remove", `{"pattern":"^web","note":"`+"```"+`"}`)
	return contract.ApprovalView{Pending: contract.PendingApproval{
		UUID: approvalID, ConversationID: conversationID, ToolName: c.Name, ToolArgs: c.Arguments, Description: wording.Describe(c, ""),
		Digest: contract.Hash(c.Arguments.Raw), CreatedAt: since,
	}}
}

func result(d contract.Decision) *contract.ApprovalResult {
	return &contract.ApprovalResult{Decision: d, DecidedAt: since.Add(time.Hour)}
}

func TestAnApprovalTellsWhereTheCallGoes(t *testing.T) {
	v := waiting()
	v.Pending.Binding = &contract.Binding{Address: "http://a/mcp"}
	if got := wording.ApprovalDetails(v, "helper", "resources", here); !strings.Contains(got, "on server `resources` at `http://a/mcp`, asked for") {
		t.Errorf("got\n%s", got)
	}
}

func TestAnApprovalTellsWhoMayDecide(t *testing.T) {
	v := waiting()
	v.Pending.Approvers = []string{"group:ops`", "not_requester"}
	v.Pending.Requester = contract.Name{Subject: "al`ice", Issuer: "keys"}
	got := wording.ApprovalDetails(v, "helper", "resources", here)
	if !strings.Contains(got, "\nWho may decide: `members of ops'; but not al'ice` (`group:ops', not_requester`).\n") || !strings.Contains(got, "` for `al'ice` of `keys`.\n") {
		t.Errorf("got\n%s", got)
	}
}

func TestApprovalDetailsGolden(t *testing.T) {
	problem := waiting()
	problem.Problem = `"maybe" is neither yes nor no`

	approved := waiting()
	approved.Result = result(contract.Approved)
	approved.Result.By, approved.Result.Via = "ops", "rest"

	rejected := waiting()
	rejected.Result = result(contract.Rejected)
	rejected.Result.By, rejected.Result.Via, rejected.Result.Reason = "ops", "signal", "not on a Friday"

	expired := waiting()
	expired.Result = result(contract.Expired)

	large := waiting()
	b := contract.NewBlob([]byte(`{"text":"` + strings.Repeat("long ", 1000) + `"}`))
	large.Pending.ToolArgs = contract.JSON{Blob: &b}

	proxy := waiting()
	proxy.Pending.Reason, proxy.Pending.RemoteAgentName = contract.ReasonRemote, "writer"
	answered := proxy
	answered.Pending.Origin = &contract.Origin{
		Chain: []string{"writer", "archive"}, Tool: "paint`", Digest: "d1", Arguments: contract.JSON{Raw: json.RawMessage(`{"what":"door"}`)},
		Reason: contract.ReasonQuestion,
	}
	answered.Pending.Schema = contract.JSON{Raw: json.RawMessage(`{"type":"object","properties":{"color":{"type":"string"}}}`)}

	for name, v := range map[string]contract.ApprovalView{
		"approval-proxy": proxy, "approval-proxy-question": answered,
		"approval-waiting": waiting(), "approval-problem": problem, "approval-approved": approved, "approval-rejected": rejected,
		"approval-expired": expired, "approval-large": large,
	} {
		t.Run(name, func(t *testing.T) { golden(t, name, wording.ApprovalDetails(v, "helper", "resources", here)) })
	}
}

func TestAnApprovalTellsWhatAnswersItUntilItIsDecided(t *testing.T) {
	v := waiting()
	v.Problem = "nobody understood"
	got := wording.ApprovalDetails(v, "helper", "", here)
	for _, want := range []string{approveCommand, `{"approved":false,`, "since 2026-03-14 12:00:00 UTC", "nobody understood", v.Pending.Digest, conversationID} {
		if !strings.Contains(got, want) {
			t.Errorf("details lack %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "on server") {
		t.Errorf("details name a server that is not known:\n%s", got)
	}
	v.Result = result(contract.Approved)
	if got := wording.ApprovalDetails(v, "helper", "", here); strings.Contains(got, "temporal workflow signal") {
		t.Errorf("a decided approval still asks:\n%s", got)
	}
}

func TestConversationDetailsGolden(t *testing.T) {
	base := contract.ConversationView{ID: conversationID, SessionID: "s-1", Status: contract.StatusActive,
		Transcript: contract.Transcript{Head: &contract.Head{Count: 40}, Tail: make([]contract.Message, 2)}}

	running := base
	running.Running, running.Queued = true, 3

	paused := base
	paused.Status, paused.Running = contract.StatusWaitingApproval, true
	second := waiting().Pending
	second.UUID = conversationID
	paused.Pending = []contract.PendingApproval{waiting().Pending, second}

	done := base
	done.Status = contract.StatusCompleted

	chained := base
	chained.Chain = []string{"front", "helper"}

	for name, v := range map[string]contract.ConversationView{
		"conversation-ready": base, "conversation-chained": chained, "conversation-running": running, "conversation-waiting": paused, "conversation-completed": done,
	} {
		t.Run(name, func(t *testing.T) { golden(t, name, wording.ConversationDetails(v, "", here)) })
	}
	t.Run("trouble", func(t *testing.T) {
		golden(t, "conversation-trouble", wording.ConversationDetails(base, "the file could not be written", here))
	})
}

func TestAWaitingConversationTellsWhatAnswersIt(t *testing.T) {
	v := contract.ConversationView{Status: contract.StatusWaitingApproval, Pending: []contract.PendingApproval{waiting().Pending}}
	got := wording.ConversationDetails(v, "trouble", here)
	for _, want := range []string{approveCommand, "since 2026-03-14 12:00:00 UTC", "**REMOVE Resources**", "trouble"} {
		if !strings.Contains(got, want) {
			t.Errorf("details lack %q:\n%s", want, got)
		}
	}
}
