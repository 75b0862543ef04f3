package auditor_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/deploy/standalone/auditor"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/audit"
)

var noon = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

// decided returns the leaves of an approval that somebody decided after a time.
func decided(n int, by *audit.Actor, d contract.Decision, after time.Duration, reason contract.Reason) []audit.Leaf {
	uuid, at := fmt.Sprint(n), noon.Add(time.Duration(n)*time.Hour)
	return []audit.Leaf{
		{ID: audit.ShownID(uuid), Kind: audit.KindShown, At: at, Approval: uuid, Reason: reason},
		{ID: audit.DecisionID(uuid), Kind: audit.KindDecision, At: at.Add(after), Approval: uuid, Decision: d, Actor: by},
	}
}

func TestFiguresAreThoseOfPeople(t *testing.T) {
	alice := &audit.Actor{Subject: "alice", Issuer: "keys", Proven: true, Channel: "rest"}
	nobody := &audit.Actor{Channel: "signal"}
	var leaves []audit.Leaf
	for n, after := range []time.Duration{time.Second, 3 * time.Second, 10 * time.Second, 1999 * time.Millisecond} {
		leaves = append(leaves, decided(n, alice, contract.Approved, after, contract.ReasonDestructive)...)
	}
	leaves = append(leaves, decided(4, nobody, contract.Rejected, 2*time.Second, contract.ReasonDestructive)...)
	leaves = append(leaves, decided(5, nobody, contract.Expired, time.Hour, contract.ReasonDestructive)...)
	leaves = append(leaves, decided(6, nobody, contract.Cancelled, time.Hour, contract.ReasonDestructive)...)
	leaves = append(leaves, decided(7, nobody, contract.Approved, 0, contract.ReasonPaused)...) // released by the Control
	leaves = append(leaves, decided(8, nobody, contract.Approved, 0, contract.ReasonDestructive)[:1]...)
	want := auditor.Oversight{
		Approvers: []auditor.Figures{
			{Approver: "keys alice", Channel: "rest", Approved: 4, Median: 1.999, P90: 3, Quick: 0.5},
			{Approver: "nobody proven (signal)", Channel: "signal", Rejected: 1, Median: 2, P90: 2},
		},
		Expired: 1, Cancelled: 1, Open: 1,
	}
	if diff := cmp.Diff(want, auditor.FiguresOf(leaves, time.Time{})); diff != "" {
		t.Error(diff)
	}
	if got := auditor.FiguresOf(leaves, noon.Add(4*time.Hour)); len(got.Approvers) != 1 || got.Expired != 1 {
		t.Errorf("since a time: %+v", got)
	}
}
