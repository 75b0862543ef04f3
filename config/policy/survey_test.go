package policy_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"agent-stop-and-go/config/policy"
	"agent-stop-and-go/workflows/contract/verdict"
)

// surveyed shows a survey as one text.
func surveyed(s policy.Survey) string {
	out := said(s.Verdict)
	for _, o := range s.Open {
		out += fmt.Sprintf("; %s %s if %s", o.Outcome, o.Rule, strings.Join(o.Missing, ", "))
	}
	return out
}

func TestWhatIsNotKnownOnlyMattersWhereItCanChangeTheOutcome(t *testing.T) {
	for _, c := range []struct {
		rules   []policy.Rule
		unknown []string
		want    string
	}{
		{[]policy.Rule{rule("r", `args.amount < 500`, "allow")}, []string{"args"}, "-; allow r if args"},
		{[]policy.Rule{rule("r", `tool == "refund" && args.amount < 500`, "allow")}, []string{"args"}, "-; allow r if args"},
		{[]policy.Rule{rule("r", `tool == "other" && args.amount < 500`, "allow")}, []string{"args"}, "-"},
		{[]policy.Rule{rule("r", `tool == "refund" || args.amount < 500`, "allow")}, []string{"args"}, "allow r"},
		{[]policy.Rule{rule("all", `true`, "deny"), rule("r", `args.amount < 500`, "ask")}, []string{"args"}, "deny all"},
		{[]policy.Rule{rule("all", `true`, "ask"), rule("r", `args.amount < 500`, "allow")}, []string{"args"}, "ask all"},
		{[]policy.Rule{rule("all", `true`, "allow"), rule("r", `args.amount < 500`, "allow")}, []string{"args"}, "allow all; allow r if args"},
		{[]policy.Rule{rule("all", `true`, "ask"), rule("r", `args.amount < 500`, "no")}, []string{"args", "time"}, "ask all; deny r if args"},
		{[]policy.Rule{rule("r", `server == "pay"`, "ask")}, []string{"server"}, "-; ask r if server"},
		{[]policy.Rule{rule("r", `"x" in caller.groups && caller.subject == ""`, "ask")}, []string{"caller.groups"}, "-; ask r if caller.groups"},
		{[]policy.Rule{rule("r", `caller.subject == "bob" && "x" in caller.groups`, "ask")}, []string{"caller.groups"}, "-"},
		{[]policy.Rule{rule("r", `annotations.read_only && annotations.destructive`, "ask")}, []string{"annotations.read_only"}, "-; ask r if annotations.read_only"},
		{[]policy.Rule{rule("r", `args.nothing < 500`, "allow")}, nil, "ask r"},
		{[]policy.Rule{rule("r", `sql.writes("x")`, "no")}, nil, "-; deny r if sql"},
		{[]policy.Rule{rule("r", `sql.class == "x"`, "no")}, nil, "-; deny r if sql"},
	} {
		if got := surveyed(withFacts(t, c.rules...).Survey(refund(`{"amount":20}`), c.unknown...)); got != c.want {
			t.Errorf("%s without %v: %s, not %s", c.rules[len(c.rules)-1].When, c.unknown, got, c.want)
		}
	}
	var none *policy.Policy
	if s := none.Survey(refund(`{}`), "args"); !s.Decided() || s.Verdict != nil {
		t.Errorf("without rules: %+v", s)
	}
}

// A survey that is decided agrees with the judgement, whatever is not known turns out to be.
func TestADecidedSurveyIsTheVerdict(t *testing.T) {
	rules := []policy.Rule{
		rule("a", `tool == "refund" && args.amount < 500`, "allow"), rule("b", `server == "pay" && args.amount > 10`, "ask"),
		rule("c", `has(args.x) || caller.subject == ""`, "dry_run"), rule("d", `"g" in caller.groups || usage.calls > 3`, "no"),
	}
	amounts := []string{`{}`, `{"amount":1}`, `{"amount":20}`, `{"amount":900,"x":1}`, `{"amount":"y"}`}
	for set := range 1 << len(rules) {
		var some []policy.Rule
		for i, r := range rules {
			if set>>i&1 == 1 {
				some = append(some, r)
			}
		}
		p, _ := policy.New(some)
		for _, unknown := range [][]string{nil, {"args"}, {"args", "server"}, {"caller"}, {"usage", "caller.groups"}} {
			s := p.Survey(refund(amounts[1]), unknown...)
			if !s.Decided() {
				continue
			}
			for _, args := range amounts {
				call := refund(args)
				if len(unknown) == 0 || unknown[0] != "args" {
					call = refund(amounts[1])
				}
				if len(unknown) == 2 && unknown[1] == "server" {
					call.Server = "other"
				}
				if got := p.Judge(call); said(got) != said(s.Verdict) && (got == nil || s.Verdict == nil || got.Outcome != s.Verdict.Outcome) {
					t.Errorf("rules %b without %v: %s, but %s for %s", set, unknown, said(s.Verdict), said(got), args)
				}
			}
		}
	}
}

func TestWhatTheRulesSayOfATool(t *testing.T) {
	p := withFacts(t, rule("small", `tool == "refund" && args.amount < 500`, "allow"), rule("db", `server == "db"`, "deny"),
		rule("reads", `annotations.read_only`, "ask"), rule("people", `server == "db" && "x" in caller.groups && sql.writes("y")`, "deny"))
	for _, c := range []struct {
		call verdict.Call
		want string
	}{
		{verdict.Call{Tool: "refund", Server: "pay"}, `{"depends":["small"],"on":["args"]}`},
		{verdict.Call{Tool: "execute", Server: "db"}, `{"outcome":"deny","rule":"db"}`},
		{verdict.Call{Tool: "list", Server: "pay", ReadOnly: true}, `{"outcome":"ask","rule":"reads"}`},
		{verdict.Call{Tool: "refund", ReadOnly: true}, `{"outcome":"ask","rule":"reads"}`},
		{verdict.Call{Tool: "add", Server: "pay"}, `null`},
	} {
		got, err := json.Marshal(p.About(c.call))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %s, not %s", c.call.Tool, got, c.want)
		}
	}
}
