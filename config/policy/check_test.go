package policy_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"agent-stop-and-go/config/policy"
)

var liveTools = []policy.Tool{
	{Name: "refund", Server: "pay", Schema: json.RawMessage(`{"type":"object","properties":{"amount":{"type":"number"},"currency":{"type":"string"},"order":{"type":"object","properties":{"id":{"type":"integer"}}}},"required":["amount"]}`)},
	{Name: "charge", Server: "pay", Schema: json.RawMessage(`{"type":"object","properties":{"amount":{"type":"number"},"lines":{"type":"array","items":{"type":"object","properties":{"price":{"type":"number"}}}}}}`)},
	{Name: "query", Server: "db", Schema: json.RawMessage(`{"type":"object","properties":{"table":{"type":"string"}}}`)},
	{Name: "free", Server: "db", Schema: json.RawMessage(`{"type":"object"}`)},
	{Name: "a2a_shop"},
}

func TestRulesThatFitTheToolsHaveNoFaults(t *testing.T) {
	for _, when := range []string{
		`tool == "refund" && args.amount < 500`, `tool == "refund" && args.order.id == 5`, `args.amount == 5`,
		`tool == "charge" && args.lines.exists(l, l.price > 3)`, `server == "db" && has(args.table)`, `has(caller.subject)`,
		`tool == "refund" && args.?currency.orValue("") == "EUR" || tool == "query" && args.table == "x"`,
		`tool == "free" && args.anything.at.all`, `tool == "a2a_shop"`, `annotations.destructive`, `tool.startsWith("ref")`,
	} {
		for _, f := range mustNew(t, rule("r", when, "ask")).Check(liveTools) {
			if f.Fatal {
				t.Errorf("%s: %s", when, f.Text)
			}
		}
	}
}

func TestRulesThatDoNotFitTheTools(t *testing.T) {
	for when, want := range map[string]string{
		`tool == "refnd"`:                                        `fatal: concerns no tool: there is no tool refnd (did you mean refund?)`,
		`server == "dbs" && args.table == "x"`:                   `fatal: concerns no tool: there is no server dbs (did you mean db?)`,
		`tool in ["chrge", "paid"]`:                              `fatal: concerns no tool: there is no tool chrge (did you mean charge?)`,
		`tool == "refund" && server == "db"`:                     `fatal: concerns no tool`,
		`tool == "refund" && args.amout < 500`:                   `fatal: there is no argument amout (did you mean amount?) of refund`,
		`tool == "refund" && args.order.number == 5`:             `fatal: there is no argument number of refund`,
		`tool == "refund" && args.?curency.orValue("") == "EUR"`: `fatal: there is no argument curency (did you mean currency?) of refund`,
		`tool == "charge" && args.lines.exists(l, l.prize > 3)`:  `fatal: there is no argument prize (did you mean price?) of charge`,
		`tool == "refund" && args.currency == 5`:                 `fatal: its condition does not fit the arguments`,
		`server == "pay" && args.currency == "EUR"`:              `asks for every call of a tool: there is no argument currency of charge`,
		`args.amount < 500 && server != "db"`:                    ``,
	} {
		faults := mustNew(t, rule("r", when, "allow")).Check(liveTools)
		got := ""
		if len(faults) > 0 {
			got = faults[0].Text
			if faults[0].Fatal {
				got = "fatal: " + got
			}
		}
		if len(faults) > 1 || !strings.HasPrefix(got, want) || want == "" != (got == "") {
			t.Errorf("%s: %s", when, fmt.Sprint(faults))
		}
	}
}
