package verdict_test

import (
	"fmt"
	"testing"

	"agent-stop-and-go/workflows/contract/verdict"
)

func TestRulesThatChangeOnlyTighten(t *testing.T) {
	ops := verdict.Approval{Rule: "ops", By: []string{"group:ops"}}
	two := verdict.Approval{Rule: "two", By: []string{"group:ops"}, Count: 2}
	finance := verdict.Approval{Rule: "finance", By: []string{"group:finance"}}
	others := verdict.Approval{Rule: "others", NotRequester: true}
	anybody := verdict.Approval{Rule: "any"}
	ask := func(a ...verdict.Approval) *verdict.Verdict { return &verdict.Verdict{Outcome: verdict.Ask, Asks: a} }
	list := func(a ...verdict.Approval) []verdict.Approval { return a }
	for name, c := range map[string]struct {
		waits []verdict.Approval
		now   *verdict.Verdict
		want  string
	}{
		"no rule any more":             {list(ops), nil, ""},
		"it may run now":               {list(ops), &verdict.Verdict{Outcome: verdict.Allow}, ""},
		"fewer people":                 {list(two), ask(ops), ""},
		"the same people":              {list(ops), ask(ops), ""},
		"anybody instead of some":      {list(ops), ask(anybody), ""},
		"anybody, where anybody is":    {nil, ask(anybody), ""},
		"more people":                  {list(ops), ask(two), "[ops 2]"},
		"others as well":               {list(two), ask(finance), "[two 2 finance 0]"},
		"some instead of anybody":      {nil, ask(finance), "[finance 0]"},
		"not the requester any more":   {list(anybody), ask(others), "[any 0 others 0]"},
		"two, where anybody was":       {nil, ask(verdict.Approval{Rule: "both", Count: 2}), "[both 2]"},
		"it must not run":              {list(ops), &verdict.Verdict{Outcome: verdict.Deny}, "deny"},
		"it is only tried":             {nil, &verdict.Verdict{Outcome: verdict.DryRun}, "dry_run"},
		"an outcome that nobody knows": {nil, &verdict.Verdict{Outcome: "freeze"}, "freeze"},
	} {
		got := ""
		if v := verdict.Tightened(c.waits, c.now); v != nil && v.Asking() {
			var parts []any
			for _, a := range v.Asks {
				parts = append(parts, a.Rule, a.Count)
			}
			got = fmt.Sprint(parts)
		} else if v != nil {
			got = string(v.Outcome)
		}
		if got != c.want {
			t.Errorf("%s: %q, expected %q", name, got, c.want)
		}
	}
	now := &verdict.Verdict{Outcome: verdict.Ask, Asks: []verdict.Approval{{Rule: "security", By: []string{"group:security"}, Edit: []string{"amount"}}}}
	v := verdict.Tightened([]verdict.Approval{{Rule: "finance", By: []string{"group:finance"}, Edit: []string{"amount"}}}, now)
	if len(v.Asks) != 2 || v.Asks[0].Edit != nil || v.Asks[1].Edit != nil { // the changed call would be judged by the new rules alone
		t.Errorf("after other rules it may be changed: %+v", v.Asks)
	}
	if two.Count != 2 || ops.Count != 0 {
		t.Error("what waits was changed")
	}
}
