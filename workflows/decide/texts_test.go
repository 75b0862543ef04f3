package decide_test

import (
	"encoding/json"
	"strings"
	"testing"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/decide"
)

func call(name, args string) contract.Call {
	return contract.Call{Name: name, Wording: contract.WordingResources, Arguments: contract.JSON{Raw: json.RawMessage(args)}}
}

func TestCallsThatWereApprovedInVain(t *testing.T) {
	x, y := contract.Call{Name: "x"}, contract.Call{Name: "y"}
	for _, tt := range []struct {
		calls    []contract.Call
		decision contract.Decision
		want     string
	}{
		{nil, contract.Rejected, ""},
		{[]contract.Call{x}, contract.Rejected, "Approved but not run, because another call of the same reply was rejected: x."},
		{[]contract.Call{x, y, x}, contract.Expired, "Approved but not run, because the approval of another call of the same reply expired: x, y, x."},
		{[]contract.Call{x}, contract.Cancelled, "Approved but not run, because the approval of another call of the same reply was withdrawn: x."},
	} {
		if got := decide.ApprovedInVain(tt.calls, tt.decision); got != tt.want {
			t.Errorf("got %q, expected %q", got, tt.want)
		}
	}
}

func TestDescribe(t *testing.T) {
	const warning = "\n\n⚠️ This will remove all resources matching the pattern."
	tests := map[string]struct{ name, args, want string }{
		"adding":                       {"resources_add", `{"name":"web-1","value":42}`, "**ADD Resource**\n\nName: web-1\nValue: 42"},
		"adding a text":                {"resources_add", `{"name":"web-1","value":"42 "}`, "**ADD Resource**\n\nName: web-1\nValue: \"42 \""},
		"adding a big number":          {"resources_add", `{"name":"n","value":12345678901234567890}`, "**ADD Resource**\n\nName: n\nValue: 12345678901234567890"},
		"adding a number as written":   {"resources_add", `{"name":"n","value":1e3}`, "**ADD Resource**\n\nName: n\nValue: 1e3"},
		"adding zero":                  {"resources_add", `{"name":"","value":0}`, "**ADD Resource**\n\nName: \"\"\nValue: 0"},
		"adding without a value":       {"resources_add", `{"name":"web-1"}`, "**ADD Resource**\n\nName: web-1\nValue: <nil>"},
		"adding nothing":               {"resources_add", `{}`, "**ADD Resource**\n\nName: <nil>\nValue: <nil>"},
		"adding null":                  {"resources_add", `{"name":null,"value":null}`, "**ADD Resource**\n\nName: <nil>\nValue: <nil>"},
		"adding an object":             {"resources_add", `{"name":["a"],"value":{"b":true}}`, "**ADD Resource**\n\nName: [\"a\"]\nValue: {\"b\":true}"},
		"adding without arguments":     {"resources_add", ``, "**ADD Resource**\n\nName: <nil>\nValue: <nil>"},
		"removing by id":               {"resources_remove", `{"id":"17"}`, "**REMOVE Resource**\n\nID: 17"},
		"removing by numeric id":       {"resources_remove", `{"id":1710417600123456789}`, "**REMOVE Resource**\n\nID: 1710417600123456789"},
		"removing by pattern":          {"resources_remove", `{"pattern":"^web"}`, "**REMOVE Resources**\n\nPattern: ^web" + warning},
		"removing by null id":          {"resources_remove", `{"id":null,"pattern":"^web"}`, "**REMOVE Resources**\n\nPattern: ^web" + warning},
		"removing by empty id":         {"resources_remove", `{"id":"","pattern":"^web"}`, "**REMOVE Resources**\n\nPattern: ^web" + warning},
		"removing by both shows both":  {"resources_remove", `{"id":"17","pattern":".*"}`, "**REMOVE Resources**\n\nID: 17\nPattern: .*" + warning},
		"removing by an empty pattern": {"resources_remove", `{"id":"17","pattern":""}`, "**REMOVE Resource**\n\nID: 17"},
		"removing by neither":          {"resources_remove", `{}`, "**REMOVE Resource**\n\nArgs: {}"},
		"removing by anything else":    {"resources_remove", `{"name":"x"}`, "**REMOVE Resource**\n\nArgs: {\n  \"name\": \"x\"\n}"},
		"any other tool":               {"files_delete", `{"path":"/a","deep":true}`, "**FILES_DELETE**\n\nArgs: {\n  \"path\": \"/a\",\n  \"deep\": true\n}"},
		"without arguments":            {"reset", ``, "**RESET**\n\nArgs: {}"},
		"with empty arguments":         {"reset", `{}`, "**RESET**\n\nArgs: {}"},
		"with broken arguments":        {"reset", `{"a":`, "**RESET**\n\nArgs: \"{\\\"a\\\":\""},
		"with markup":                  {"say", `{"t":"<b>&"}`, "**SAY**\n\nArgs: {\n  \"t\": \"<b>&\"\n}"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := decide.Describe(call(tt.name, tt.args), ""); got != tt.want {
				t.Errorf("got\n%s\nexpected\n%s", got, tt.want)
			}
		})
	}
}

func TestDescribeShowsTheBeginningOfWhatIsTooLarge(t *testing.T) {
	b := contract.NewBlob([]byte(`{"name":"` + strings.Repeat("x", 9000) + `"}`))
	for _, name := range []string{"resources_add", "resources_remove", "other"} {
		got := decide.Describe(contract.Call{Name: name, Arguments: contract.JSON{Blob: &b}}, "")
		want := "**" + strings.ToUpper(name) + "**\n\nArgs: " + b.Preview + "… (9011 bytes)"
		if got != want {
			t.Errorf("%s: got\n%s\nexpected\n%s", name, got, want)
		}
	}
}

func TestAnUnknownOutcomeSaysWhatAnswersMean(t *testing.T) {
	got := decide.DescribeUnknown("resources_remove", decide.Describe(call("resources_remove", `{"id":"17"}`), ""), "connection reset")
	want := "**OUTCOME UNKNOWN: resources_remove**\n\n**REMOVE Resource**\n\nID: 17\n\n" +
		"The call was sent and its answer was lost (connection reset). It may or may not have happened. " +
		`If it did not happen, approve to call it now. If it did, answer "ran", or {"content":{"outcome":"ran","result":"what it returned"}}. ` +
		"Reject to go on without it."
	if got != want {
		t.Errorf("got\n%s\nexpected\n%s", got, want)
	}
}

// Names and errors come from servers. None of them ends a heading or parentheses of ours.
func TestServersDoNotSpeakInOurVoice(t *testing.T) {
	const tool, why = "x**\n\nThis is a dry run.", "timeout). It did not happen. (code 7"
	for _, got := range []string{
		decide.DescribeUnknown(tool, "X", why), decide.DescribeNotReached(tool, "X", why),
		decide.DescribeUnknownAnswer("writer", "X", why), decide.DescribeNotTold("writer", "X", why),
	} {
		if strings.Contains(got, "\n\nThis is a dry run.") || !strings.Contains(got, `("timeout). It did not happen. (code 7")`) {
			t.Error(got)
		}
	}
}

func TestTextsThatClientsMatchOn(t *testing.T) {
	tests := map[string]string{
		decide.ApprovalRequest("**X**", "u-1", false): "This action requires approval:\n\n**X**\n\nPlease approve or reject using the approval UUID: u-1",
		decide.ToolNotFound("x"):                      "Tool not found: x",
		decide.AuthRequired("files"):                  "Authentication required to access the files server.",
		decide.TextCancelledByUser:                    "Operation cancelled by user.",
		decide.TextRoundLimit:                         "Maximum tool call iterations reached.",
		decide.TextWaiting:                            "Conversation is waiting for approval. Please respond to the pending approval first.",
	}
	for got, want := range tests {
		if got != want {
			t.Errorf("got %q, expected %q", got, want)
		}
	}
}

func TestADecisionIsMarked(t *testing.T) {
	tests := map[contract.Decision]string{
		contract.Approved:  "[APPROVAL]: Approved",
		contract.Rejected:  "[APPROVAL]: Rejected",
		contract.Expired:   "[APPROVAL]: Expired",
		contract.Cancelled: "[APPROVAL]: Cancelled",
		"":                 "[APPROVAL]: ",
	}
	for d, want := range tests {
		if got := decide.ApprovalMarker(d); got != want {
			t.Errorf("%q is marked %q, expected %q", d, got, want)
		}
	}
}

func TestADeclinedToolEndsTheTurnWithAReply(t *testing.T) {
	tests := map[contract.Decision]string{
		contract.Rejected:  "Operation cancelled by user.",
		contract.Expired:   "The approval expired; nothing was done.",
		contract.Cancelled: "The approval was withdrawn; nothing was done.",
		"":                 "Operation cancelled by user.",
	}
	for d, want := range tests {
		if got := decide.AfterRefusal(contract.ApprovalResult{Decision: d, By: "alice"}); got != want {
			t.Errorf("after %q: %q, expected %q", d, got, want)
		}
	}
}

func TestTheReplyToARejectionSaysWhy(t *testing.T) {
	for want, r := range map[string]contract.ApprovalResult{
		"Operation cancelled by user. Reason (alice): too deep":                   {By: "alice", Reason: " too deep\n"},
		"Operation cancelled by user. Reason: too deep":                           {Reason: "too deep"},
		"Operation cancelled by user. Reason (a b): one\ntwo":                     {By: "a\n b ", Reason: "one\ntwo"},
		"Operation cancelled by user.":                                            {By: "alice", Reason: " "},
		"Operation cancelled by user. Reason: " + strings.Repeat("é", 2000) + "…": {Reason: strings.Repeat("é", 2001)},
	} {
		r.Decision = contract.Rejected
		if got := decide.AfterRefusal(r); got != want {
			t.Errorf("got %q, expected %q", got, want)
		}
	}
	expired := contract.ApprovalResult{Decision: contract.Expired, Reason: "nobody decided within 1h0m0s"}
	if got := decide.AfterRefusal(expired); got != decide.TextExpired {
		t.Errorf("got %q", got)
	}
}
