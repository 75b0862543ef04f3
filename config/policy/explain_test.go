package policy_test

import (
	"encoding/json"
	"testing"
)

func TestAnExplanationNamesTheRuleItsValuesAndTheNearest(t *testing.T) {
	p := mustNew(t,
		rule("small", `tool == "refund" && args.amount < 500`, "allow"),
		rule("big", `tool == "refund" && args.amount >= 500 && args.currency == "EUR"`, "ask"),
		rule("never", `server == "db" && args.table == "ledger" && caller.subject == "eve"`, "no"),
	)
	got, err := json.Marshal(p.Explain(refund(`{"amount":20,"currency":"EUR"}`)))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"verdict":{"outcome":"allow","rule":"small","policy":"` + p.Version() + `"},` +
		`"matching":[{"rule":"small","outcome":"allow","values":[{"text":"tool","value":"refund"},{"text":"args.amount","value":20}]}],` +
		`"nearest":[{"rule":"big","outcome":"ask","unmet":["args.amount \u003e= 500"],"values":[{"text":"args.amount","value":20}]}]}`
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	broken := p.Explain(refund(`{}`))
	if len(broken.Matching) != 2 || broken.Matching[0].Error != "there is no amount" || len(broken.Nearest) != 1 || broken.Nearest[0].Rule != "never" {
		t.Errorf("got %+v", broken)
	}
}
