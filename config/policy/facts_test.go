package policy_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"agent-stop-and-go/config/policy"
	"agent-stop-and-go/workflows/contract/verdict"
)

func withFacts(t testing.TB, rules ...policy.Rule) *policy.Policy {
	t.Helper()
	p, mistakes := policy.New(rules, "sql", "shell")
	if len(mistakes) > 0 {
		t.Fatalf("%+v", mistakes)
	}
	return p
}

func execute(sql map[string]any) verdict.Call {
	call := verdict.Call{Tool: "execute", Server: "db", Destructive: true, Arguments: json.RawMessage(`{"statement":"…"}`)}
	if sql != nil {
		call.ServerFacts = map[string]map[string]any{"sql": sql}
	}
	return call
}

func TestConditionsReadFactsOfServers(t *testing.T) {
	call := execute(map[string]any{"class": "write", "reads": []string{"customers"}, "writes": []string{"Orders", "public.items"}, "rows": int64(7), "safe": false})
	for when, want := range map[string]string{
		`sql.class == "write"`:                                "allow r",
		`sql.writes("orders") && !sql.reads("orders")`:        "allow r",
		`sql.writes("ORDERS") && sql.writes("public.items")`:  "allow r",
		`sql.writes("items")`:                                 "-",
		`"Orders" in sql.writes && !("orders" in sql.writes)`: "allow r",
		`sql.writes.all(t, t in ["Orders", "public.items"])`:  "allow r",
		`size(sql.writes) == 2 && sql.rows < 10 && !sql.safe`: "allow r",
		`has(sql.class) && !has(sql.columns)`:                 "allow r",
		`sql.?columns.orValue([]) == []`:                      "allow r",
		`sql.columns("x")`:                                    "ask r",
		`sql.class("write")`:                                  "ask r",
		`sql.writes(args.rows)`:                               "ask r",
		`sql.klass == "write"`:                                "ask r",
		`shell.program == "ls"`:                               "ask r",
		`tool == "query" && sql.writes("orders")`:             "-",
		`tool == "execute" || shell.writes("orders")`:         "allow r",
	} {
		if got := said(withFacts(t, rule("r", when, "allow")).Judge(call)); got != want {
			t.Errorf("%s: %s, not %s", when, got, want)
		}
	}
}

func TestFactsThatAreNotKnownAskAndSayWhy(t *testing.T) {
	p := withFacts(t, rule("orders", `sql.writes("orders")`, "no"), rule("reads", `sql.class == "read"`, "allow"))
	call := execute(nil)
	call.FactProblems = map[string]string{"sql": "db did not answer within 2s"}
	v := p.Judge(call)
	if v == nil || v.Outcome != verdict.Ask || !strings.Contains(v.Text, "the rule orders could not be evaluated: sql is not known: db did not answer within 2s") {
		t.Errorf("got %+v", v)
	}
}

// A server is asked only for what a rule cannot be evaluated without.
func TestOnlyNeededFactsAreAskedFor(t *testing.T) {
	p := withFacts(t, rule("small", `args.amount < 500`, "allow"), rule("orders", `server == "db" && sql.writes("orders")`, "no"),
		rule("shell", `tool == "run" && shell.program == "rm"`, "no"), rule("both", `args.?trial.orValue(false) && shell.program == "ls" && sql.class == "x"`, "ask"))
	for _, c := range []struct {
		call verdict.Call
		want string
	}{
		{execute(nil), "[sql]"},
		{refund(`{}`), "[]"},
		{verdict.Call{Tool: "run", Arguments: json.RawMessage(`{}`)}, "[shell]"},
		{verdict.Call{Tool: "x", Arguments: json.RawMessage(`{"trial":true}`)}, "[shell sql]"},
	} {
		if got := fmt.Sprint(p.FactsFor(c.call)); got != c.want {
			t.Errorf("%s: %s, not %s", c.call.Tool, got, c.want)
		}
	}
	if got := mustNew(t, rule("r", "true", "ask")).FactsFor(execute(nil)); got != nil {
		t.Errorf("without facts: %v", got)
	}
}

func TestFactsAreKnownByName(t *testing.T) {
	for when, want := range map[string]string{
		`sqll.writes("orders")`:     "undeclared reference to 'sqll'",
		`sql.writes("a", "b")`:      "undeclared reference",
		`sql.writes(3)`:             "no matching overload",
		`sql`:                       "is a map(string, dyn), not true or false",
		`writes("orders")`:          "undeclared reference to 'writes'",
		`args.table.reads("x", 1)`:  "undeclared reference",
		`sql.writes("x") == "true"`: "no matching overload",
	} {
		_, mistakes := policy.New([]policy.Rule{rule("bad", when, "allow")}, "sql", "shell")
		if len(mistakes) != 1 || !strings.Contains(mistakes[0].Text, want) {
			t.Errorf("%s: %+v", when, mistakes)
		}
	}
	for name, fine := range map[string]bool{
		"sql": true, "my_facts2": true, "": false, "SQL": false, "2x": false, "a-b": false, "args": false, "tool": false, "in": false, "true": false, "string": false,
		strings.Repeat("a", 31): false, "as": false, "time": false, "other": false,
	} {
		got := ""
		policy.CheckFacts([]string{"other", name}, func(_ int, problem string) { got = problem })
		if (got == "") != fine {
			t.Errorf("%q: %q", name, got)
		}
	}
}

func TestRulesAreCheckedAgainstFacts(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","properties":{"class":{"type":"string"},"writes":{"type":"array","items":{"type":"string"}}}}`)
	tools := []policy.Tool{
		{Name: "execute", Server: "db", Facts: map[string]json.RawMessage{"sql": schema}},
		{Name: "run", Server: "old", Facts: map[string]json.RawMessage{"sql": nil}},
		{Name: "add", Server: "pay"},
	}
	for when, want := range map[string]string{
		`server == "db" && sql.writes("orders") && sql.class == "write" && "x" in sql.writes`: "[]",
		`server == "old" && sql.anything("orders")`:                                           "[]",
		`server == "db" && sql.clas == "write"`:                                               "there is no fact clas (did you mean class?) of execute",
		`server == "db" && sql.reads("orders")`:                                               "its condition does not fit",
		`server == "db" && sql.class == 3`:                                                    "its condition does not fit",
		`sql.writes("orders")`:                                                                "asks for every call of a tool: there are no facts sql of add",
		`tool == "add" && sql.writes("orders")`:                                               "there are no facts sql of add",
	} {
		if got := fmt.Sprint(withFacts(t, rule("r", when, "ask")).Check(tools)); !strings.Contains(got, want) {
			t.Errorf("%s: %s, not %s", when, got, want)
		}
	}
}
