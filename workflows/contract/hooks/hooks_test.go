package hooks_test

import (
	"testing"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deputy"
	"agent-stop-and-go/workflows/contract/hooks"
)

func TestADecisionSaysForWhom(t *testing.T) {
	r := contract.ApprovalResult{Decision: contract.Approved, By: "carol", Identity: contract.Identity{Subject: "carol", Issuer: "keys"}}
	if d := hooks.Of(contract.ApprovalInput{}, "", &r).Decision; d.For != (contract.Name{}) || d.Deputy != "" {
		t.Errorf("without a deputy: %+v", d)
	}
	r.For = &deputy.Deputy{ID: "d1", From: deputy.Person{Subject: "alice", Issuer: "sso"}}
	if d := hooks.Of(contract.ApprovalInput{}, "", &r).Decision; d.For != (contract.Name{Subject: "alice", Issuer: "sso"}) || d.Deputy != "d1" || d.Issuer != "keys" {
		t.Errorf("by a deputy: %+v", d)
	}
}
