package decide_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/verdict"
	"agent-stop-and-go/workflows/decide"
)

func TestRulesTakePrecedence(t *testing.T) {
	by := func(c contract.Call, o verdict.Outcome) contract.Call {
		c.Verdict = &verdict.Verdict{Outcome: o, Rule: "r"}
		return c
	}
	for name, tt := range map[string]struct {
		call    contract.Call
		skip    bool
		asks    bool
		batches [][]int
		held    bool
	}{
		"an allowed destructive call runs":                 {by(write("a"), verdict.Allow), false, false, [][]int{{0}}, false},
		"an allowed read-only call runs":                   {by(read("a"), verdict.Allow), false, false, [][]int{{0}}, false},
		"a read-only call asks":                            {by(read("a"), verdict.Ask), false, true, [][]int{{0}}, false},
		"a call asks where destructive calls run at once":  {by(write("a"), verdict.Ask), true, true, [][]int{{0}}, false},
		"a refused call does not run":                      {by(write("a"), verdict.Deny), true, false, nil, true},
		"a dry run does not run":                           {by(read("a"), verdict.DryRun), false, false, nil, true},
		"a refused delegation does not run":                {by(contract.Call{Name: "a2a_x", Peer: &contract.Peer{}}, verdict.Deny), false, false, nil, true},
		"an unknown tool is unknown, whatever a rule says": {by(contract.Call{Name: "a", Unknown: true}, verdict.Allow), false, false, nil, true},
	} {
		p := decide.Next([]contract.Call{tt.call}, tt.skip)
		_, held := p.Answered[0]
		if diff := cmp.Diff(tt.batches, p.Batches); diff != "" || held != tt.held || (len(p.Ask) > 0) != tt.asks {
			t.Errorf("%s: %+v", name, p)
		}
	}
}
