package approvers_test

import (
	"slices"
	"testing"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/approvers"
	"agent-stop-and-go/workflows/contract/verdict"
)

func TestWhoHasApprovedDoesNotCountTwice(t *testing.T) {
	person := func(name string) contract.Identity {
		return contract.Identity{Subject: name, Issuer: "keys", Groups: []string{"ops"}, Scopes: []string{contract.ScopeApprove}}
	}
	bob, carol := person("bob"), person("carol")
	owner := person("alice").Key()
	rules := approvers.Required(verdict.Approval{By: []string{"group:ops"}, NotRequester: true}, []string{"subject:eve"})
	if !slices.Equal(rules, []string{"group:ops", approvers.NotRequester}) {
		t.Fatalf("%q", rules)
	}
	rules = approvers.Except(rules, bob)
	for caller, want := range map[string]bool{"alice": false, "bob": false, "carol": true} {
		if got := approvers.May(person(caller), owner, rules); got != want {
			t.Errorf("%s: %t", caller, got)
		}
	}
	if rules = approvers.Except(rules, carol); approvers.May(carol, owner, rules) || approvers.May(bob, owner, rules) {
		t.Error("somebody counts twice")
	}
	if other := approvers.Instead(rules, []string{"group:boss"}); !slices.Equal(other, []string{"group:boss", approvers.NotRequester, "not:keys bob", "not:keys carol"}) {
		t.Errorf("%q", other)
	}
	byDefault := approvers.Except(nil, person("alice"))
	if approvers.May(person("alice"), owner, byDefault) {
		t.Error("the owner counts twice")
	}
	if got := approvers.Except([]string{"group:ops"}, contract.Identity{}); len(got) != 1 {
		t.Errorf("%q excludes nobody", got)
	}
	if approvers.Check("not:keys bob") == nil {
		t.Error("a file can exclude by name")
	}
}

func TestARuleWithoutPeopleTakesTheAgents(t *testing.T) {
	agent := []string{approvers.Requester, "group:ops"}
	for _, tt := range []struct {
		a    verdict.Approval
		want []string
	}{
		{verdict.Approval{}, agent},
		{verdict.Approval{NotRequester: true}, []string{"group:ops", approvers.NotRequester}},
		{verdict.Approval{By: []string{"group:boss"}}, []string{"group:boss"}},
	} {
		if got := approvers.Required(tt.a, agent); !slices.Equal(got, tt.want) {
			t.Errorf("%+v: %q", tt.a, got)
		}
	}
}
