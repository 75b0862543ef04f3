package verdict_test

import (
	"testing"

	"agent-stop-and-go/workflows/contract/verdict"
)

func TestWhatRulesOfNowNeedLess(t *testing.T) {
	ask := func(asks ...verdict.Approval) *verdict.Verdict {
		return &verdict.Verdict{Outcome: verdict.Ask, Asks: asks}
	}
	anybody, ops, finance := verdict.Approval{}, verdict.Approval{By: []string{"group:ops"}}, verdict.Approval{By: []string{"group:finance"}}
	two, others := verdict.Approval{By: []string{"group:ops"}, Count: 2}, verdict.Approval{By: []string{"group:ops"}, NotRequester: true}
	for name, c := range map[string]struct {
		waits       []verdict.Approval
		now         *verdict.Verdict
		destructive bool
		want        string // runs, asks or no
	}{
		"allowed":                                 {[]verdict.Approval{ops}, &verdict.Verdict{Outcome: verdict.Allow}, true, "runs"},
		"allowed, and the hint asked":             {nil, &verdict.Verdict{Outcome: verdict.Allow}, true, "runs"},
		"no rule, not destructive":                {[]verdict.Approval{ops}, nil, false, "runs"},
		"no rule, destructive":                    {[]verdict.Approval{ops}, nil, true, "asks"},
		"no rule before and now":                  {nil, nil, true, "no"},
		"fewer people":                            {[]verdict.Approval{two}, ask(ops), true, "asks"},
		"one approval less":                       {[]verdict.Approval{ops, finance}, ask(finance), true, "asks"},
		"also the requester":                      {[]verdict.Approval{others}, ask(ops), true, "asks"},
		"others":                                  {[]verdict.Approval{ops}, ask(finance), true, "asks"},
		"the same":                                {[]verdict.Approval{ops, finance}, ask(finance, ops), true, "no"},
		"more":                                    {[]verdict.Approval{ops}, ask(two, finance), true, "no"},
		"anybody, where some are asked":           {[]verdict.Approval{anybody}, ask(ops), true, "no"},
		"two of anybody, where one is asked":      {[]verdict.Approval{{Count: 2}}, ask(ops), true, "asks"},
		"a rule that denies":                      {[]verdict.Approval{ops}, &verdict.Verdict{Outcome: verdict.Deny}, true, "no"},
		"a rule that tries":                       {[]verdict.Approval{ops}, &verdict.Verdict{Outcome: verdict.DryRun}, true, "no"},
		"an outcome that nobody knows here holds": {[]verdict.Approval{ops}, &verdict.Verdict{Outcome: "shred"}, true, "no"},
		"a rule that could not be evaluated":      {[]verdict.Approval{two}, &verdict.Verdict{Outcome: verdict.Ask, Asks: []verdict.Approval{anybody}, Text: "the rule big could not be evaluated: there is no amount"}, true, "no"},
	} {
		got := "no"
		if v := verdict.Loosened(c.waits, c.now, c.destructive); v.Allowing() {
			got = "runs"
		} else if v != nil {
			got = "asks"
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
