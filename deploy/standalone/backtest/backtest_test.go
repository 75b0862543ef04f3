package backtest_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/config/policy"
	"agent-stop-and-go/deploy/standalone/backtest"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/verdict"
	"agent-stop-and-go/workflows/record/document"
)

var noon = time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)

// talk builds a conversation, a second a message.
type talk struct {
	document.Conversation
}

func (t *talk) add(m document.Message) *document.Message {
	m.ID, m.CreatedAt = fmt.Sprint("m", len(t.Messages)), noon.Add(time.Duration(len(t.Messages))*time.Second)
	t.Messages = append(t.Messages, m)
	return &t.Messages[len(t.Messages)-1]
}

func (t *talk) user(i *contract.Identity) {
	t.add(document.Message{Role: contract.RoleUser, Content: "hi", Identity: i})
}

// call adds a call; draft begins a reply.
func (t *talk) call(draft, id, tool, args string, v *document.Verdict) {
	t.add(document.Message{
		Role: contract.RoleAssistant, DraftID: draft, Usage: document.Usage{InputTokens: 10, Calls: int64(len(draft))},
		ToolCall: &document.ToolCall{ID: id, Name: tool, Arguments: json.RawMessage(args), Verdict: v},
	})
}

func (t *talk) result(id, tool string, failed bool) {
	t.add(document.Message{Role: contract.RoleTool, ToolCall: &document.ToolCall{ID: id, Name: tool, IsError: failed}})
}

func (t *talk) decided(tool, args string, d contract.Decision) {
	sum, _ := toolbox.Digest(json.RawMessage(args))
	m := t.add(document.Message{Role: contract.RoleUser})
	m.Approval = &contract.ApprovalResult{Tool: tool, ArgumentsSHA256: sum, Decision: d, RequestedAt: m.CreatedAt}
}

// refunds is a conversation in which two refunds were asked about, one of which still waits.
func refunds() document.Conversation {
	var t talk
	t.user(&contract.Identity{Subject: "bob", Issuer: "idp", Channel: "rest"})
	t.call("a", "1", "check", `{}`, nil)
	t.call("", "2", "refund", `{"amount":20}`, nil)
	t.decided("refund", `{"amount":20}`, contract.Approved)
	t.result("1", "check", true)
	t.result("2", "refund", false)
	t.call("b", "3", "refund", `{"amount":20}`, &document.Verdict{Outcome: verdict.Deny, Rule: "no"})
	t.result("3", "refund", false)
	t.user(nil)
	t.call("c", "4", "refund", `{"amount":700}`, nil)
	sum, _ := toolbox.Digest(json.RawMessage(`{"amount":700}`))
	t.PendingApprovals = []contract.PendingApproval{{ToolName: "refund", Digest: sum, CreatedAt: noon.Add(time.Hour)}}
	return t.Conversation
}

func TestCallsAreReadAsTheRulesWouldHaveSeenThem(t *testing.T) {
	tools := map[string]backtest.Tool{"refund": {Server: "pay", Destructive: true, Names: []string{"amount"}}}
	got := slices.Collect(backtest.Calls(refunds(), tools))
	if len(got) != 4 {
		t.Fatalf("%d calls", len(got))
	}
	for i, want := range []struct {
		then    backtest.Then
		unknown string
		call    verdict.Call
	}{
		{backtest.Then{Outcome: verdict.Allow}, "[caller.groups caller.scopes server annotations]", verdict.Call{
			Tool: "check", Arguments: json.RawMessage(`{}`), Before: []verdict.Earlier{}, Facts: &verdict.Facts{Caller: &verdict.Caller{Subject: "bob", Issuer: "idp", Channel: "rest"}},
		}},
		{backtest.Then{Outcome: verdict.Ask, Decision: contract.Approved}, "[caller.groups caller.scopes]", verdict.Call{
			Tool: "refund", Server: "pay", Destructive: true, Names: []string{"amount"}, Arguments: json.RawMessage(`{"amount":20}`), Before: []verdict.Earlier{},
			Reply: []verdict.Earlier{{Tool: "check"}}, Facts: &verdict.Facts{Caller: &verdict.Caller{Subject: "bob", Issuer: "idp", Channel: "rest"}},
		}},
		{backtest.Then{Outcome: verdict.Deny, Rule: "no"}, "[caller.groups caller.scopes]", verdict.Call{
			Tool: "refund", Server: "pay", Destructive: true, Names: []string{"amount"}, Arguments: json.RawMessage(`{"amount":20}`),
			Before: []verdict.Earlier{{Tool: "check", Failed: true}, {Tool: "refund"}},
			Facts:  &verdict.Facts{Caller: &verdict.Caller{Subject: "bob", Issuer: "idp", Channel: "rest"}, Usage: verdict.Usage{InputTokens: 10, Calls: 1}},
		}},
		{backtest.Then{Outcome: verdict.Ask}, "[caller chain]", verdict.Call{
			Tool: "refund", Server: "pay", Destructive: true, Names: []string{"amount"}, Arguments: json.RawMessage(`{"amount":700}`),
			Before: []verdict.Earlier{{Tool: "check", Failed: true}, {Tool: "refund"}}, // the denied one has not run
			Facts:  &verdict.Facts{Usage: verdict.Usage{InputTokens: 20, Calls: 2}},
		}},
	} {
		want.call.Time = got[i].At
		if diff := cmp.Diff(want.call, got[i].Call); diff != "" || got[i].Then != want.then || fmt.Sprint(got[i].Unknown) != want.unknown {
			t.Errorf("call %d: %+v, not known %v\n%s", i, got[i].Then, got[i].Unknown, diff)
		}
	}
}

func rules(t testing.TB, list ...policy.Rule) *policy.Policy {
	t.Helper()
	p, mistakes := policy.New(list, "sql")
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	return p
}

func rule(name, when, then string) policy.Rule {
	return policy.Rule{Name: name, When: when, Then: policy.Then{Outcome: then}}
}

func TestOutcomesAreCompared(t *testing.T) {
	asking := func(by ...string) policy.Rule {
		return policy.Rule{Name: "r", When: "true", Then: policy.Then{Ask: &policy.Ask{By: by}}}
	}
	call := backtest.Call{Call: verdict.Call{Tool: "refund", Arguments: json.RawMessage(`{"amount":20}`)}, Unknown: []string{"server", "annotations"}}
	for _, c := range []struct {
		then          backtest.Then
		before, after []policy.Rule // without before it is the past
		want          backtest.Kind
		may           bool
	}{
		{backtest.Then{Outcome: verdict.Ask}, nil, nil, backtest.Same, false},
		{backtest.Then{Outcome: verdict.Ask}, nil, []policy.Rule{rule("r", `args.amount < 500`, "allow")}, backtest.Loosened, false},
		{backtest.Then{Outcome: verdict.Allow}, nil, []policy.Rule{rule("r", `args.amount < 500`, "deny")}, backtest.Tightened, false},
		{backtest.Then{Outcome: verdict.Ask}, nil, []policy.Rule{rule("r", `server == "x"`, "allow")}, backtest.Unclear, true},
		{backtest.Then{Outcome: verdict.Allow}, nil, []policy.Rule{rule("r", `server == "x"`, "ask")}, backtest.Unclear, false},
		{backtest.Then{Outcome: verdict.Ask, Rule: "gone"}, nil, nil, backtest.Unclear, true},
		{backtest.Then{Outcome: verdict.Allow, Rule: "gone"}, nil, nil, backtest.Unclear, false},
		{backtest.Then{Outcome: verdict.Ask}, []policy.Rule{asking("group:a")}, []policy.Rule{asking("group:b")}, backtest.Other, false},
		{backtest.Then{Outcome: verdict.Ask}, []policy.Rule{rule("r", `server == "x"`, "deny")}, []policy.Rule{rule("r", `server == "x"`, "deny")}, backtest.Same, false},
		{backtest.Then{Outcome: verdict.Ask}, []policy.Rule{rule("r", `server == "x"`, "deny")}, []policy.Rule{rule("r", `server == "y"`, "deny")}, backtest.Unclear, true},
		{backtest.Then{Outcome: verdict.Ask}, []policy.Rule{rule("r", `true`, "dry_run")}, []policy.Rule{rule("r", `sql.writes("x")`, "deny")}, backtest.Unclear, true},
		{backtest.Then{Outcome: verdict.Ask}, []policy.Rule{rule("r", `true`, "ask")}, []policy.Rule{rule("q", `true`, "ask"), rule("r", `sql.writes("x")`, "deny")}, backtest.Unclear, false},
	} {
		call.Then = c.then
		before := call.Past()
		if c.before != nil {
			before = call.Judge(rules(t, c.before...))
		}
		got := backtest.Compare(before, call.Judge(rules(t, c.after...)))
		if got.Kind != c.want || got.MayLoosen != c.may {
			t.Errorf("%+v: %s (%t), from %s to %s", c, got.Kind, got.MayLoosen, got.Before, got.After)
		}
	}
}

// The rules that decided about a call decide the same about its record, if the record has what
// they read.
func TestTheSameRulesDecideTheSame(t *testing.T) {
	p := rules(t, rule("small", `args.amount < 500`, "allow"), rule("sql", `tool == "execute" && sql.writes("orders")`, "deny"), rule("big", `tool == "refund" && args.amount >= 500`, "ask"))
	var c talk
	c.user(&contract.Identity{Channel: "rest"})
	c.call("a", "1", "refund", `{"amount":20}`, &document.Verdict{Outcome: verdict.Allow, Rule: "small"})
	c.call("", "2", "refund", `{"amount":700}`, &document.Verdict{Outcome: verdict.Ask, Rule: "big"})
	c.call("", "3", "execute", `{"amount":1}`, &document.Verdict{Outcome: verdict.Deny, Rule: "sql", Facts: json.RawMessage(`{"sql":{"writes":["Orders"]}}`)})
	var r backtest.Report
	for call := range backtest.Calls(c.Conversation, nil) {
		r.Add(backtest.Compare(call.Past(), call.Judge(p)))
	}
	if r.Calls != 3 || r.Changes[backtest.Same] != 3 || r.Rules["sql"] != (backtest.Count{Before: 1, After: 1}) {
		t.Errorf("got %+v", r)
	}
}

func TestTheReportSaysWhatIsMissing(t *testing.T) {
	p := rules(t, rule("r", `server == "x" && "g" in caller.groups`, "ask"))
	var r backtest.Report
	for call := range backtest.Calls(refunds(), nil) {
		r.Add(backtest.Compare(call.Past(), call.Judge(p)))
	}
	if r.Changes[backtest.Unclear] == 0 || r.Missing["server"] == 0 || r.Missing["caller"] == 0 || !strings.Contains(fmt.Sprint(r.Missing), "caller.groups") {
		t.Errorf("got %+v", r)
	}
	if r.Failing(backtest.Loosened) != r.Changes[backtest.Loosened]+r.MayLoosen {
		t.Errorf("%d", r.Failing(backtest.Loosened))
	}
}

func BenchmarkCalls(b *testing.B) {
	p := rules(b, rule("small", `args.amount < 500`, "allow"), rule("big", `tool == "refund" && args.amount >= 500`, "ask"))
	c := refunds()
	for b.Loop() {
		for call := range backtest.Calls(c, nil) {
			backtest.Compare(call.Past(), call.Judge(p))
		}
	}
}
