package policy_test

import (
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/config/policy"
	"agent-stop-and-go/workflows/contract/grant"
	"agent-stop-and-go/workflows/contract/verdict"
)

func offering(name, when string, a policy.Ask) policy.Rule {
	if a.Always == nil {
		a.Always = &policy.Always{Scopes: []string{"turn", "agent"}, AtMost: time.Hour, Uses: 5}
	}
	return policy.Rule{Name: name, When: when, Then: policy.Then{Ask: &a}}
}

func offerOf(t *testing.T, args string, rules ...policy.Rule) *grant.Offer {
	t.Helper()
	return mustNew(t, rules...).Judge(refund(args)).Offer()
}

func TestWhatIsOfferedForLaterCalls(t *testing.T) {
	big := offering("big", `args.amount >= 500`, policy.Ask{})
	if o := offerOf(t, `{"amount":700}`, big); o == nil || len(o.Scopes) != 2 || o.AtMost != time.Hour || o.Uses != 5 || o.Rules == "" {
		t.Fatalf("%+v", o)
	}
	for name, rules := range map[string][]policy.Rule{
		"no rule offers it":          {rule("big", `args.amount >= 500`, "ask")},
		"another rule asks":          {big, rule("all", "true", "ask")},
		"two people are asked":       {offering("big", "true", policy.Ask{By: []string{"group:finance"}}), offering("all", "true", policy.Ask{By: []string{"group:ops"}})},
		"another rule asks for two":  {big, offering("all", "true", policy.Ask{Count: 2})},
		"nothing is in common":       {big, offering("all", "true", policy.Ask{Always: &policy.Always{Scopes: []string{"conversation"}}})},
		"a rule cannot be evaluated": {big, rule("limit", `args.limit > 3`, "allow")},
		"it is denied":               {big, rule("never", "true", "no")},
	} {
		if o := offerOf(t, `{"amount":700}`, rules...); o != nil {
			t.Errorf("%s: %+v", name, o)
		}
	}
	both := offerOf(t, `{"amount":700}`, big, offering("all", "true", policy.Ask{Always: &policy.Always{Scopes: []string{"turn"}, AtMost: time.Minute, Uses: 9}}))
	if both == nil || len(both.Scopes) != 1 || both.AtMost != time.Minute || both.Uses != 5 {
		t.Errorf("of two rules: %+v", both)
	}
}

// A grant is bound to the rules that are about its call: those of a call that others are about, or the same
// ones otherwise, have another digest.
func TestAnOfferIsOfTheRulesAboutTheCall(t *testing.T) {
	big := offering("big", `args.amount >= 500`, policy.Ask{})
	digest := offerOf(t, `{"amount":700}`, big).Rules
	same := offerOf(t, `{"amount":800}`, big, rule("small", `args.amount < 500`, "allow"), rule("other", `tool == "x"`, "no"))
	if same == nil || same.Rules != digest {
		t.Errorf("rules about other calls count: %+v", same)
	}
	for name, rules := range map[string][]policy.Rule{
		"another condition":   {offering("big", `args.amount >= 600`, policy.Ask{})},
		"another name":        {offering("large", `args.amount >= 500`, policy.Ask{})},
		"other people":        {offering("big", `args.amount >= 500`, policy.Ask{By: []string{"group:ops"}})},
		"another expiry":      {offering("big", `args.amount >= 500`, policy.Ask{Expires: time.Hour})},
		"less is offered":     {offering("big", `args.amount >= 500`, policy.Ask{Always: &policy.Always{Scopes: []string{"turn"}}})},
		"a rule that allows":  {big, rule("all", "true", "allow")},
		"a rule that asks so": {big, offering("all", "true", policy.Ask{})},
	} {
		if o := offerOf(t, `{"amount":700}`, rules...); o == nil || o.Rules == digest {
			t.Errorf("%s: %+v", name, o)
		}
	}
	if v := mustNew(t, big, rule("never", "true", "no")).Judge(refund(`{"amount":700}`)); v.Outcome != verdict.Deny {
		t.Errorf("%+v", v)
	}
}

func TestOffersThatAreMistakes(t *testing.T) {
	always := func(scopes ...string) *policy.Always { return &policy.Always{Scopes: scopes} }
	for want, c := range map[string]struct {
		ask    policy.Ask
		proven bool
	}{
		"always excludes count":          {policy.Ask{Count: 2, Always: always("turn")}, true},
		"always excludes edit":           {policy.Ask{Edit: []string{"a"}, Always: always("turn")}, true},
		"always.scopes is required":      {policy.Ask{Always: always()}, true},
		`always.scopes[0] "ever": must`:  {policy.Ask{Always: always("ever")}, true},
		"always.scopes[1] caller needs":  {policy.Ask{Always: always("turn", "caller")}, false},
		"always.scopes[0] agent exclude": {policy.Ask{NotRequester: true, Always: always("agent")}, true},
		"always.at_most 1s: must be":     {policy.Ask{Always: &policy.Always{Scopes: []string{"turn"}, AtMost: time.Second}}, true},
		"always.open[0]":                 {policy.Ask{Always: &policy.Always{Scopes: []string{"turn"}, Open: []string{"/a//b"}}}, true},
		"":                               {policy.Ask{NotRequester: true, Always: always("turn", "conversation")}, true},
	} {
		got := ""
		policy.Rule{Name: "r", When: "true", Then: policy.Then{Ask: &c.ask}}.Check(c.proven, func(key, problem string) {
			got += key + " " + problem + "\n"
		})
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q", want, got)
		}
	}
}
