package policy_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/config/policy"
	"agent-stop-and-go/workflows/contract/verdict"
)

// rule returns a rule; then is an outcome, or the text of a denial.
func rule(name, when, then string) policy.Rule {
	switch then {
	case "allow", "ask", "dry_run", "deny":
		return policy.Rule{Name: name, When: when, Then: policy.Then{Outcome: then}}
	}
	return policy.Rule{Name: name, When: when, Then: policy.Then{Deny: then}}
}

func mustNew(t testing.TB, rules ...policy.Rule) *policy.Policy {
	t.Helper()
	p, mistakes := policy.New(rules)
	if len(mistakes) > 0 {
		t.Fatalf("%+v", mistakes)
	}
	return p
}

func refund(args string) verdict.Call {
	return verdict.Call{
		Tool: "refund", Server: "pay", Destructive: true, Arguments: json.RawMessage(args),
		Time: time.Date(2026, 11, 25, 22, 30, 0, 0, time.UTC), Facts: &verdict.Facts{Caller: &verdict.Caller{}}, Before: []verdict.Earlier{},
	}
}

// said shows a verdict as one text.
func said(v *verdict.Verdict) string {
	if v == nil {
		return "-"
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s", v.Outcome, v.Rule))
}

func TestTheMostCarefulRuleCounts(t *testing.T) {
	p := mustNew(t,
		rule("small", `tool == "refund" && args.amount < 500`, "allow"),
		rule("big", `tool == "refund" && args.amount >= 500`, "ask"),
		rule("trial", `args.?trial.orValue(false)`, "dry_run"),
		rule("never", `args.?account.orValue("") == "treasury"`, "ask the treasurer"),
	)
	for args, want := range map[string]string{
		`{"amount":499.99}`:          "allow small",
		`{"amount":500}`:             "ask big",
		`{"amount":5e2}`:             "ask big",
		`{"amount":20,"trial":true}`: "dry_run trial",
		`{"amount":20,"trial":true,"account":"treasury"}`:      "deny never",
		`{"amount":9007199254740993,"account":"petty"}`:        "ask big",
		`{"amount":123456789012345678901234567890}`:            "ask big",
		`{"amount":-123456789012345678901234567890,"trial":1}`: "ask trial",
		`{"amount":20,"account":"\u0074reasury"}`:              "deny never",
		`{"amount":20,"account":"Treasury"}`:                   "allow small",
		`{"amount":20,"Amount":900,"account":"petty"}`:         "ask small",
	} {
		if got := said(p.Judge(refund(args))); got != want {
			t.Errorf("%s: %s, not %s", args, got, want)
		}
	}
	if got := p.Judge(verdict.Call{Tool: "list", Arguments: json.RawMessage(`{}`)}); got != nil {
		t.Errorf("got %+v for a call that no rule is about", got)
	}
}

// No mistake in a rule, and nothing odd in the arguments, lets a call run.
func TestWhatCannotBeEvaluatedAsks(t *testing.T) {
	p := mustNew(t, rule("small", `args.amount < 500`, "allow"))
	for _, args := range []string{
		`{}`, `{"amount":null}`, `{"amount":"20"}`, `{"amount":[20]}`, `{"amount":{"value":20}}`, `{"amount":true}`,
		`{"Amount":20}`, `{"amount ":20}`, `{"amount":20,"amount":9000}`, `{"amount":20} {"amount":9000}`, `[]`, `null`, `{`, ``,
	} {
		v := p.Judge(refund(args))
		if v == nil || v.Outcome != verdict.Ask || !strings.Contains(v.Text, "the rule small could not be evaluated") {
			t.Errorf("%s: %+v", args, v)
		}
	}
}

func TestWhatIsNotKnownAsks(t *testing.T) {
	p := mustNew(t, rule("mine", `caller.subject == "bob" || size(chain) == 0 || usage.cost < 1.0`, "allow"))
	call := refund(`{}`)
	if got := said(p.Judge(call)); got != "allow mine" {
		t.Errorf("got %s", got)
	}
	call.Facts = nil
	if got := p.Judge(call); got == nil || got.Outcome != verdict.Ask {
		t.Errorf("got %+v", got)
	}
}

func TestWhatRanBeforeIsKnownOrAsks(t *testing.T) {
	p := mustNew(t, rule("tainted", `before.exists(c, c.tool == "read_secret")`, "no"), rule("often", `reply.filter(c, c.tool == "refund").size() >= 2`, "deny"))
	call := refund(`{}`)
	if got := p.Judge(call); got != nil {
		t.Errorf("got %+v", got)
	}
	call.Before = make([]verdict.Earlier, 1001)
	if got := said(p.Judge(call)); got != "ask tainted" {
		t.Errorf("too many calls: %s", got)
	}
	call.Before = nil
	if got := said(p.Judge(call)); got != "ask tainted" {
		t.Errorf("not known: %s", got)
	}
	call.Before, call.Reply = []verdict.Earlier{}, []verdict.Earlier{{Tool: "refund"}, {Tool: "refund"}}
	if got := said(p.Judge(call)); got != "deny often" {
		t.Errorf("the third of a reply: %s", got)
	}
}

// Programs that read JSON into structures take no notice of case.
func TestArgumentsThatDifferInCaseAsk(t *testing.T) {
	p := mustNew(t, rule("force", `has(args.force) && args.force`, "no"))
	call := refund(`{"Force":true}`)
	if got := p.Judge(call); got != nil {
		t.Errorf("a name that the tool does not know: %+v", got)
	}
	call.Names = []string{"force"}
	for _, args := range []string{`{"Force":true}`, `{"FORCE":false}`} {
		call.Arguments = json.RawMessage(args)
		if got := said(p.Judge(call)); got != "ask force" {
			t.Errorf("%s: %s", args, got)
		}
	}
	call.Names, call.Arguments = nil, json.RawMessage(`{"user":"a","u\u017fer":"b"}`)
	if got := said(p.Judge(call)); got != "ask force" {
		t.Errorf("a long s: %s", got)
	}
}

func TestGroupsOfRulesAreKnown(t *testing.T) {
	p := mustNew(t, rule("a", `"guests" in caller.groups`, "deny"), policy.Rule{Name: "b", When: "true", Then: policy.Then{Ask: &policy.Ask{
		By: []string{"group:finance", "subject:eve"}, Expires: time.Hour, OnExpiry: "escalate", Escalate: []string{"group:boss"},
	}}})
	if got := fmt.Sprint(p.Groups()); got != "[boss finance guests]" {
		t.Errorf("got %s", got)
	}
}

func TestACostlyConditionAsks(t *testing.T) {
	p := mustNew(t, rule("pairs", `args.a.all(x, args.a.all(y, args.a.all(z, x + y + z != 3)))`, "allow"))
	args, err := json.Marshal(map[string]any{"a": make([]int, 200)})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	v := p.Judge(refund(string(args)))
	if v == nil || v.Outcome != verdict.Ask || !strings.Contains(v.Text, "costs too much") {
		t.Errorf("after %s: %+v", time.Since(start), v)
	}
}

func TestConditionsSeeTheCall(t *testing.T) {
	call := refund(`{"lines":[{"sku":"a","price":3},{"sku":"b","price":40}]}`)
	call.Node = "cashier"
	call.Before = []verdict.Earlier{{Tool: "backup"}, {Tool: "check", Failed: true}}
	call.Facts = &verdict.Facts{
		Caller: &verdict.Caller{Subject: "bob", Groups: []string{"support"}, Scopes: []string{"converse"}, Channel: "rest"},
		Chain:  []string{"front"}, Usage: verdict.Usage{Calls: 3, CostNanos: 1_500_000_000},
	}
	for _, when := range []string{
		`server == "pay" && node == "cashier"`,
		`annotations.destructive && !annotations.read_only && !annotations.idempotent`,
		`"support" in caller.groups && caller.channel == "rest"`,
		`args.lines.exists(l, l.price > 30) && args.lines.all(l, l.sku in ["a", "b"])`,
		`before.exists(c, c.tool == "backup" && !c.failed) && before.exists(c, c.failed)`,
		`chain == ["front"]`,
		`usage.cost == 1.5 && usage.calls < 4`,
		`time.getHours() == 22 && time.getHours("Europe/Berlin") == 23 && time.getDayOfWeek() == 3`,
		`tool.startsWith("ref") && tool.matches("^re.+d$") && sets.contains(["support", "ops"], caller.groups)`,
		`has(args.lines) && !has(args.amount)`,
	} {
		if got := said(mustNew(t, rule("r", when, "allow")).Judge(call)); got != "allow r" {
			t.Errorf("%s: %s", when, got)
		}
	}
}

func TestSeveralRulesAskOneAfterTheOther(t *testing.T) {
	asking := func(name string, a policy.Ask) policy.Rule {
		return policy.Rule{Name: name, When: "true", Then: policy.Then{Ask: &a}}
	}
	finance, ops := []string{"group:finance"}, []string{"group:ops"}
	p := mustNew(t, rule("plain", "true", "ask"), asking("finance", policy.Ask{By: finance, Expires: 48 * time.Hour}),
		asking("finance-soon", policy.Ask{By: finance, Expires: time.Hour}), asking("ops", policy.Ask{By: ops}),
		rule("broken", "args.x == 1", "allow"))
	v := p.Judge(refund(`{}`))
	want := []verdict.Approval{{Rule: "finance", By: finance, Expires: time.Hour}, {Rule: "ops", By: ops}}
	if v.Rule != "plain" || fmt.Sprint(v.Asks) != fmt.Sprint(want) || !strings.Contains(v.Text, "broken") {
		t.Errorf("got %+v", v)
	}
	v = mustNew(t, rule("plain", "true", "ask"), asking("two", policy.Ask{Count: 2}), asking("three", policy.Ask{Count: 3, Expires: 2 * time.Hour, OnExpiry: "keep"}),
		asking("boss", policy.Ask{Expires: time.Hour, OnExpiry: "escalate", Escalate: []string{"group:boss"}})).Judge(refund(`{}`))
	if want := []verdict.Approval{{Rule: "two", Count: 3, Expires: time.Hour, Then: []string{"group:boss"}}}; fmt.Sprint(v.Asks) != fmt.Sprint(want) {
		t.Errorf("got %+v", v.Asks)
	}
	v = mustNew(t, asking("ends", policy.Ask{Expires: time.Hour, OnExpiry: "stop"}), asking("goes-on", policy.Ask{Expires: time.Minute, OnExpiry: "keep"})).Judge(refund(`{}`))
	if want := []verdict.Approval{{Rule: "goes-on", Expires: time.Minute}}; fmt.Sprint(v.Asks) != fmt.Sprint(want) {
		t.Errorf("got %+v", v.Asks)
	}
	v = mustNew(t, asking("soon", policy.Ask{Expires: time.Hour}), asking("not-me", policy.Ask{NotRequester: true})).Judge(refund(`{}`))
	if want := []verdict.Approval{{Rule: "not-me", NotRequester: true, Expires: time.Hour}}; fmt.Sprint(v.Asks) != fmt.Sprint(want) {
		t.Errorf("got %+v", v.Asks)
	}
}

func TestMistakesInConditions(t *testing.T) {
	for when, want := range map[string]string{
		`tol == "x"`:             `undeclared reference to 'tol' (did you mean 'tool'?) at "tol == \"x\""`,
		`tool = "x"`:             "is no condition",
		`tool`:                   "is a string, not true or false",
		`1 + 1`:                  "is an int, not true or false",
		`caller.name == "bob"`:   "undefined field 'name'",
		`tool == 3`:              "no matching overload",
		`false && tool == "x"`:   "is never true",
		`time.getHours() < "8"`:  "no matching overload",
		`args.name.matches("(")`: "is no condition",
		strings.Repeat("(", 60) + "true" + strings.Repeat(")", 60): "is no condition",
	} {
		p, mistakes := policy.New([]policy.Rule{rule("good", "true", "ask"), rule("bad", when, "allow")})
		if p != nil || len(mistakes) != 1 || mistakes[0].Rule != 1 || !strings.Contains(mistakes[0].Text, want) {
			t.Errorf("%s: %+v", when, mistakes)
		}
	}
}

func TestTheVersionIsThatOfTheRules(t *testing.T) {
	a, b := mustNew(t, rule("r", "true", "ask")), mustNew(t, rule("r", "true", "ask"))
	c := mustNew(t, rule("r", "true ", "ask"))
	if a.Version() == "" || a.Version() != b.Version() || a.Version() == c.Version() {
		t.Errorf("%s, %s, %s", a.Version(), b.Version(), c.Version())
	}
	var none *policy.Policy
	if none.Version() != "" || none.Judge(refund(`{}`)) != nil || none.Rules() != nil || none.Check(nil) != nil {
		t.Error("without rules something is said")
	}
}

// BenchmarkJudge200Rules also reports the 99th percentile, which is true on a quiet machine only.
func BenchmarkJudge200Rules(b *testing.B) {
	var rules []policy.Rule
	for i := range 200 {
		rules = append(rules, rule(fmt.Sprint("r", i), fmt.Sprintf(`tool == "tool%d" && args.amount < %d && !("x" in caller.groups)`, i%50, i), "allow"))
	}
	p := mustNew(b, rules...)
	call := refund(`{"amount":700,"account":"petty","note":"twice charged"}`)
	call.Tool = "tool7"
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		p.Judge(call)
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds()), "p99-ns")
}

// Of several rules that ask the same people, each has to allow that an argument is changed.
func TestWhatMayBeChangedIsWhatAllRulesAllow(t *testing.T) {
	rule := func(name string, edit ...string) policy.Rule {
		return policy.Rule{Name: name, Then: policy.Then{Ask: &policy.Ask{Edit: edit}}}
	}
	for _, c := range []struct {
		rules []policy.Rule
		want  string
	}{
		{[]policy.Rule{rule("a", "amount", "note")}, "amount note"},
		{[]policy.Rule{rule("a", "amount", "note"), rule("b", "note", "to")}, "note"},
		{[]policy.Rule{rule("a", "amount"), rule("b")}, ""},
	} {
		for i := range c.rules {
			c.rules[i].When = `tool == "refund"`
		}
		p, mistakes := policy.New(c.rules)
		if len(mistakes) > 0 {
			t.Fatal(mistakes)
		}
		v := p.Judge(verdict.Call{Tool: "refund", Arguments: []byte(`{}`)})
		if len(v.Asks) != 1 || strings.Join(v.Asks[0].Edit, " ") != c.want {
			t.Errorf("%+v, expected %q", v.Asks, c.want)
		}
	}
}

func TestNamesOfArgumentsThatMayBeChanged(t *testing.T) {
	for name, fine := range map[string]bool{"amount": true, "to.city": true, "": false, " x": false, "a..b": false, ".a": false} {
		problem := ""
		r := policy.Rule{Name: "r", When: "true", Then: policy.Then{Ask: &policy.Ask{Edit: []string{name}}}}
		r.Check(true, func(key, text string) { problem = key + " " + text })
		if fine != (problem == "") || !fine && !strings.HasPrefix(problem, "then.ask.edit[0] ") {
			t.Errorf("%q: %q", name, problem)
		}
	}
}
