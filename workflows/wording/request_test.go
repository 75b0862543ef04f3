package wording_test

import (
	"testing"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

func TestADecisionIsMarked(t *testing.T) {
	tests := map[contract.Decision]string{
		contract.Approved:  "[APPROVAL]: Approved",
		contract.Rejected:  "[APPROVAL]: Rejected",
		contract.Expired:   "[APPROVAL]: Expired",
		contract.Cancelled: "[APPROVAL]: Cancelled",
		"":                 "[APPROVAL]: ",
	}
	for d, want := range tests {
		if got := wording.ApprovalMarker(d); got != want {
			t.Errorf("%q is marked %q, expected %q", d, got, want)
		}
	}
}

func TestAnApprovalInATreeIsAskedForInFewerWords(t *testing.T) {
	equal(t, "request", wording.ApprovalRequest("**X**", "u-1", true), "This action requires approval:\n\n**X**\n\nApproval UUID: u-1")
}
