package wording_test

import (
	"strings"
	"testing"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

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
		if got := wording.UnusedApprovals(tt.calls, tt.decision); got != tt.want {
			t.Errorf("got %q, expected %q", got, tt.want)
		}
	}
}

func TestTextsThatClientsMatchOn(t *testing.T) {
	tests := map[string]string{
		wording.ApprovalRequest("**X**", "u-1", false): "This action requires approval:\n\n**X**\n\nPlease approve or reject using the approval UUID: u-1",
		wording.ToolNotFound("x"):                      "Tool not found: x",
		wording.AuthRequired("files"):                  "Authentication required to access the files server.",
		wording.TextCancelledByUser:                    "Operation cancelled by user.",
		wording.TextRoundLimit:                         "Maximum tool call iterations reached.",
		wording.TextWaiting:                            "Conversation is waiting for approval. Please respond to the pending approval first.",
	}
	for got, want := range tests {
		if got != want {
			t.Errorf("got %q, expected %q", got, want)
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
		if got := wording.AfterRefusal(contract.ApprovalResult{Decision: d, By: "alice"}); got != want {
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
		if got := wording.AfterRefusal(r); got != want {
			t.Errorf("got %q, expected %q", got, want)
		}
	}
	expired := contract.ApprovalResult{Decision: contract.Expired, Reason: "nobody decided within 1h0m0s"}
	if got := wording.AfterRefusal(expired); got != wording.TextExpired {
		t.Errorf("got %q", got)
	}
}
