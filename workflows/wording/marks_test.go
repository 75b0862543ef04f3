package wording_test

import (
	"testing"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

// What reports a failed model is known by its text, and so is the decision that brings a client's result.
func TestTextsThatAreKnownAgain(t *testing.T) {
	for text, want := range map[string]bool{
		wording.ModelFailure(wording.Failure{Message: "the key was refused"}): true,
		wording.ModelFailure(wording.Failure{Lost: true}):                     true,
		wording.MisfitFailure("a title is missing"):                           true,
		wording.OverrunFailure("too many calls"):                              true,
		wording.DelegationFailure(wording.Failure{Message: "down"}):           false,
		wording.TextRoundLimit:                                                false,
	} {
		if wording.IsModelFailure(text) != want {
			t.Errorf("%q: not %t", text, want)
		}
	}
	for reason, want := range map[contract.Reason]bool{contract.ReasonClientTool: true, contract.ReasonDestructive: false, contract.ReasonPaused: false} {
		for _, d := range []contract.Decision{contract.Approved, contract.Rejected, contract.Expired, contract.Cancelled} {
			p := contract.PendingApproval{Reason: reason, Schema: contract.JSON{Raw: []byte(`{"type":"object"}`)}}
			if text := wording.Marker(p, contract.ApprovalResult{Decision: d}); wording.IsClientToolMarker(text) != want {
				t.Errorf("%q: not %t", text, want)
			}
		}
	}
}
