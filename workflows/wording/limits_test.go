package wording_test

import (
	"testing"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

func TestOneCallIsNotCalls(t *testing.T) {
	r := wording.ReachedLimit{Of: "turn", What: "calls", Used: 1, Limit: 1, More: 1}
	equal(t, "asked", r.Describe(""), "**LIMIT REACHED: calls of this turn**\n\nSpent: 1 model call of 1 model call.\n\n"+
		"Approve to go on for another 1 model call, reject to stop here.")
}

func TestALimitIsDescribed(t *testing.T) {
	r := wording.ReachedLimit{Of: "turn", What: "cost", Used: 261_500_000, Limit: 250_000_000, More: 250_000_000}
	equal(t, "description", r.Describe("writer"), "**LIMIT REACHED: cost of this turn**\n\nSpent: 0.2615 of 0.25 before writer.\n\n"+
		"Approve to go on for another 0.25, reject to stop here.")
	equal(t, "after a no", wording.AfterLimit(r, contract.ApprovalResult{Decision: contract.Rejected}), "Stopped: the limit of 0.25 for this turn is reached.")
	because := contract.ApprovalResult{Decision: contract.Rejected, By: "alice", Reason: "too dear"}
	equal(t, "after a no with a reason", wording.AfterLimit(r, because), "Stopped: the limit of 0.25 for this turn is reached. Reason (alice): too dear")
	equal(t, "after too long", wording.AfterLimit(r, contract.ApprovalResult{Decision: contract.Expired}), wording.TextExpired)
}

func TestMoneyIsWrittenExactly(t *testing.T) {
	for nanos, want := range map[int64]string{0: "0", 1: "0.000000001", 75: "0.000000075", 1_500_000_000: "1.5", 9_123_456_789_012_345_678: "9123456789.012345678"} {
		equal(t, want, wording.Amount(nanos), want)
	}
}
