package approvers_test

import (
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/approvers"
	"agent-stop-and-go/workflows/contract/deputy"
)

// A deputy may what the other may, and never more: each case is a way to try.
func TestADeputyMayWhatTheOtherMayAndNoMore(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	const this, other = "22222222-2222-5222-8222-222222222222", "33333333-3333-5333-8333-333333333333"
	boss := deputy.Person{Subject: "boss", Issuer: "keys", Groups: []string{"finance", "all"}, Scopes: []string{contract.ScopeConverse, contract.ScopeApprove}}
	bob := contract.Identity{Subject: "bob", Issuer: "keys"}
	whole := deputy.Deputy{ID: "1", From: boss, To: deputy.Person{Subject: "bob", Issuer: "keys"}, Until: now.Add(time.Hour)}
	with := func(change func(*deputy.Deputy)) deputy.Deputy {
		d := whole
		change(&d)
		return d
	}
	finance := []string{"group:finance"}
	owner := contract.Identity{Subject: "alice", Issuer: "keys"}.Key()
	for name, tc := range map[string]struct {
		caller contract.Identity
		owner  string
		rules  []string
		d      deputy.Deputy
		want   bool
	}{
		"in the place of a member":         {bob, owner, finance, whole, true},
		"this approval only":               {bob, owner, finance, with(func(d *deputy.Deputy) { d.Approval = this }), true},
		"another approval":                 {bob, owner, finance, with(func(d *deputy.Deputy) { d.Approval = other }), false},
		"its time is over":                 {bob, owner, finance, with(func(d *deputy.Deputy) { d.Until = now }), false},
		"somebody else":                    {contract.Identity{Subject: "carol", Issuer: "keys"}, owner, finance, whole, false},
		"the same name elsewhere":          {contract.Identity{Subject: "bob", Issuer: "https://other"}, owner, finance, whole, false},
		"nobody":                           {contract.Identity{}, owner, finance, whole, false},
		"what the other may not":           {bob, owner, []string{"group:ops"}, whole, false},
		"a subject that the other is not":  {bob, owner, []string{"subject:bob"}, whole, false},
		"the other has no scope":           {bob, owner, finance, with(func(d *deputy.Deputy) { d.From.Scopes = []string{contract.ScopeRead} }), false},
		"the deputy's own groups":          {contract.Identity{Subject: "bob", Issuer: "keys", Groups: []string{"ops"}, Scopes: contract.Scopes()}, owner, []string{"group:ops"}, whole, false},
		"the requester is the deputy":      {bob, bob.Key(), finance, whole, false},
		"the requester is the other":       {bob, "keys boss", []string{"group:finance", approvers.NotRequester}, whole, false},
		"the owner, who may":               {bob, "keys boss", []string{approvers.Requester}, whole, true},
		"what only the owner is asked":     {bob, "keys boss", []string{approvers.Asked, "group:none"}, whole, false},
		"the other has approved":           {bob, owner, append(finance, "not:keys boss"), whole, false},
		"the deputy has approved":          {bob, owner, append(finance, "not:keys bob"), whole, false},
		"by default, for nobody in charge": {bob, owner, nil, whole, false},
		"a deputy of their own":            {contract.Identity{Subject: "boss", Issuer: "keys"}, owner, finance, with(func(d *deputy.Deputy) { d.To = boss }), false},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := approvers.Deputizes(tc.caller, tc.owner, tc.rules, tc.d, this, now)
			if ok != tc.want {
				t.Fatalf("%t", ok)
			}
			if ok && (len(got.From.Groups) > 1 || len(got.From.Scopes) != 1) {
				t.Errorf("the record says more than what allowed it: %+v", got.From)
			}
		})
	}
}

func TestADeputyAndTheOtherCountAsOne(t *testing.T) {
	boss := contract.Identity{Subject: "boss", Issuer: "keys", Groups: []string{"finance"}, Scopes: []string{contract.ScopeApprove}}
	bob := contract.Identity{Subject: "bob", Issuer: "keys", Groups: []string{"finance"}, Scopes: []string{contract.ScopeApprove}}
	carol := contract.Identity{Subject: "carol", Issuer: "keys", Groups: []string{"finance"}, Scopes: []string{contract.ScopeApprove}}
	d := deputy.Deputy{From: deputy.Person{Subject: "boss", Issuer: "keys"}}
	rules := approvers.ExceptThose([]string{"group:finance"}, contract.ApprovalResult{Identity: bob, For: &d})
	if approvers.May(boss, "", rules) || approvers.May(bob, "", rules) || !approvers.May(carol, "", rules) {
		t.Errorf("%q", rules)
	}
}
