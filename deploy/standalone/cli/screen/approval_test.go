package screen_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/deploy/standalone/cli/screen"
	"agent-stop-and-go/gateway/client"
)

func shows(t *testing.T, a client.Approval, lines ...string) {
	t.Helper()
	got := screen.Approval(a)
	for _, line := range lines {
		if !strings.Contains(got, "\n  "+line+"\n") {
			t.Errorf("the line %q is missing in\n%s", line, got)
		}
	}
}

func TestAnApprovalSaysWhoAsksForWhomAndWhoMayDecide(t *testing.T) {
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.Local)
	expiry := at.Add(time.Hour)
	shows(t, client.Approval{
		UUID: "u", ToolName: "drop", Server: "db", AgentName: "helper", Node: "writer", Reason: client.ReasonDestructive, Because: "annotation",
		Requester: &client.Identity{Subject: "alice\u202e", Issuer: "keys"}, Approvers: []string{"requester", "group:ops"}, CreatedAt: at, ExpiresAt: &expiry,
	},
		"server        db", "asked by      helper", "node          writer", `for           alice\u202e (keys)`,
		"why           the tool server says that calls of this tool may destroy something",
		`may decide    alice\u202e, or members of ops`, "expires       2026-03-01 11:00:00, which counts as a no")
}

func TestAnApprovalSaysWhatMayBeGrantedForLaterCalls(t *testing.T) {
	shows(t, client.Approval{UUID: "u", ToolName: "drop", Always: &client.AlwaysOffer{Scopes: []string{"turn", "agent"}, AtMost: 2 * time.Hour, Uses: 5}},
		"may stand     for up to 5 later calls within 2h0m0s, too: --always turn|agent shows for which")
}

func TestAnApprovalOfAnotherAgentNamesTheChain(t *testing.T) {
	shows(t, client.Approval{
		Reason: client.ReasonRemote, AgentName: "front", RemoteAgentName: "back", Chain: []string{"front", "back", "far"},
		Origin: &client.Origin{Chain: []string{"back", "far"}, Tool: "drop"},
	}, "asked by      front → back → far", "why           another agent asks", "its tool      drop")
	shows(t, client.Approval{Reason: client.ReasonRemote, RemoteAgentName: "back"}, "asked by      back")
}

func TestWhatIsNotKnownHasNoLine(t *testing.T) {
	got := screen.Approval(client.Approval{UUID: "u", ToolName: "drop"})
	for _, name := range []string{"server", "asked by", "for ", "why", "may decide", "expires", "note"} {
		if strings.Contains(got, "\n  "+name) {
			t.Errorf("there is a line %q in\n%s", name, got)
		}
	}
}

func TestACallThatWritesAWholeFileSaysSo(t *testing.T) {
	for name, tc := range map[string]struct {
		tool, args string
		want       bool
	}{
		"a whole file":              {"fs_write_file", `{"root":"work","path":"a","content":"x"}`, true},
		"the same, said":            {"write_file", `{"path":"a","content":"x","mode":"overwrite"}`, true},
		"names of others":           {"createFile", `{"file_path":"a","file_text":"x"}`, true},
		"one that adds":             {"write_file", `{"path":"a","content":"x","mode":"append"}`, false},
		"one that replaces nothing": {"write_file", `{"path":"a","content":"x","mode":"create_only"}`, false},
		"no text":                   {"create_folder", `{"path":"a"}`, false},
		"no file":                   {"create_issue", `{"title":"a","text":"x"}`, false},
		"one that reads":            {"read_file", `{"path":"a","text":"x"}`, false},
		"no object":                 {"write_file", `["path","content"]`, false},
	} {
		t.Run(name, func(t *testing.T) {
			a := client.Approval{ToolName: tc.tool, ToolArgs: json.RawMessage(tc.args)}
			if got := strings.Contains(screen.Approval(a), "a whole file"); got != tc.want {
				t.Errorf("said: %v", got)
			}
			a = client.Approval{ToolName: "back", ToolArgs: json.RawMessage(`{}`), Origin: &client.Origin{Tool: tc.tool, Arguments: json.RawMessage(tc.args)}}
			if screen.ReplacesFile(a) != tc.want {
				t.Error("another agent's call is judged otherwise")
			}
		})
	}
}
