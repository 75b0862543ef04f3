package activities_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/activities"
	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/rules"
	"agent-stop-and-go/activities/toolbox"
	told "agent-stop-and-go/activities/toolbox/facts"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/verdict"
)

// judge is a Policy.
type judge func(verdict.Call) *verdict.Verdict

func (f judge) Judge(c verdict.Call) *verdict.Verdict { return f(c) }

// FactsFor needs none.
func (judge) FactsFor(verdict.Call) []string { return nil }

func (judge) Version() string { return "0123456789ab" }

func judging(o verdict.Outcome) judge {
	return func(verdict.Call) *verdict.Verdict { return &verdict.Verdict{Outcome: o, Rule: "r"} }
}

var noonUTC = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

func TestRulesSeeTheFinalCall(t *testing.T) {
	var seen []verdict.Call
	list := tool("list", false)
	list.ReadOnly, list.Idempotent = true, true
	m := &activities.Models{
		Blobs: newMemory(), Offer: fakeOffer{tools: []toolbox.Tool{list, tool("add", true)}}, Now: func() time.Time { return noonUTC },
		Model: replies(llm.Reply{Calls: []llm.Call{
			{ID: "1", Name: "list", Arguments: json.RawMessage(`null`)}, {ID: "2", Name: "add", Arguments: json.RawMessage(`{"amount":5,"amount":9000}`)},
			{ID: "3", Name: "gone"}, {ID: "4", Name: "a2a_shop", Arguments: json.RawMessage(`{"message":"buy"}`)}, {ID: "5", Name: contract.ToolExitLoop},
		}}, nil),
		Policy: judge(func(c verdict.Call) *verdict.Verdict { seen = append(seen, c); return nil }),
	}
	in := question("hi")
	in.Node, in.Peers, in.ExitLoop = "buyer", []contract.Peer{{Name: "shop", Destructive: true}}, true
	in.Facts = &verdict.Facts{Caller: &verdict.Caller{Subject: "bob"}}
	in.Transcript.Tail = append(in.Transcript.Tail,
		contract.Message{ID: "m0", Role: contract.RoleAssistant, ToolCall: &contract.ToolCall{ID: "9", Name: "trial", Verdict: &verdict.Verdict{Outcome: verdict.DryRun}}},
		contract.Message{Role: contract.RoleTool, ResultOf: "m0", ToolCall: &contract.ToolCall{ID: "9", Name: "trial", Result: contract.Inline("Dry run")}},
		contract.Message{Role: contract.RoleAssistant, ToolCall: &contract.ToolCall{ID: "0", Name: "backup"}},
		contract.Message{Role: contract.RoleTool, ToolCall: &contract.ToolCall{ID: "0", Name: "backup", IsError: true, Result: contract.Inline("no")}})
	if _, err := run(t, t.Context(), m.Generate, in); err != nil {
		t.Fatal(err)
	}
	shared := verdict.Call{Node: "buyer", Facts: in.Facts, Time: noonUTC, Before: []verdict.Earlier{{Tool: "backup", Failed: true}}}
	about := func(change func(*verdict.Call)) verdict.Call { c := shared; change(&c); return c }
	want := []verdict.Call{
		about(func(c *verdict.Call) {
			c.Tool, c.Server, c.ReadOnly, c.Idempotent, c.Arguments = "list", list.Server, true, true, json.RawMessage(`{}`)
		}),
		about(func(c *verdict.Call) {
			c.Tool, c.Server, c.Destructive, c.Arguments = "add", list.Server, true, json.RawMessage(`{"amount":5,"amount":9000}`)
			c.Reply = []verdict.Earlier{{Tool: "list"}}
		}),
		about(func(c *verdict.Call) {
			c.Tool, c.Destructive, c.Arguments, c.Names = "a2a_shop", true, json.RawMessage(`{"message":"buy"}`), []string{"message"}
			c.Reply = []verdict.Earlier{{Tool: "list"}, {Tool: "add"}, {Tool: "gone"}}
		}),
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Error(diff)
	}
}

func TestACallThatARuleAsksAboutIsBoundToItsTarget(t *testing.T) {
	list := tool("list", false)
	list.Address = "http://localhost:1/mcp"
	for o, bound := range map[verdict.Outcome]bool{verdict.Ask: true, verdict.Allow: false} {
		m := &activities.Models{
			Blobs: newMemory(), Offer: fakeOffer{tools: []toolbox.Tool{list}}, Policy: judging(o),
			Model: replies(llm.Reply{Calls: []llm.Call{{ID: "1", Name: "list", Arguments: json.RawMessage(`{}`)}}}, nil),
		}
		got, err := run(t, t.Context(), m.Generate, question("hi"))
		if err != nil || got.Calls[0].Verdict == nil || (got.Calls[0].Binding != nil) != bound {
			t.Errorf("%s: %+v, %v", o, got.Calls, err)
		}
	}
}

// What a conversation brings along asks, whatever a rule allows; what was sent is not judged again.
func TestNoRuleLetsATransferredCallRunUnseen(t *testing.T) {
	for o, want := range map[verdict.Outcome]bool{verdict.Allow: false, verdict.Deny: true} {
		m := &activities.Models{Blobs: newMemory(), Offer: fakeOffer{tools: []toolbox.Tool{tool("list", false)}}, Model: replies(llm.Reply{}, nil), Policy: judging(o)}
		in := question("hi")
		in.Peers = []contract.Peer{{Name: "shop"}}
		in.Transferred = raw(`{"calls":[{"name":"list","arguments":{}},{"name":"a2a_shop","arguments":{"message":"go"},"task":"t1"}]}`)
		got, err := run(t, t.Context(), m.Generate, in)
		if err != nil || (got.Calls[0].Verdict != nil) != want || !got.Calls[0].Destructive || got.Calls[1].Verdict != nil {
			t.Errorf("%s: %+v, %v", o, got.Calls, err)
		}
	}
}

func TestRulesJudgeTheDelegationOfANode(t *testing.T) {
	var seen verdict.Call
	texts := &activities.Texts{Blobs: newMemory(), Policy: judge(func(c verdict.Call) *verdict.Verdict {
		seen = c
		return &verdict.Verdict{Outcome: verdict.Deny, Rule: "r"}
	})}
	in := contract.ComposeInput{Template: contract.Inline("write it"), Arguments: true}
	if got, err := run(t, t.Context(), texts.Compose, in); err != nil || got.Verdict != nil {
		t.Errorf("of an older history: %+v, %v", got, err)
	}
	in.Judged = &verdict.Delegation{Tool: "a2a_shop", Destructive: true, Node: "n", Facts: &verdict.Facts{Chain: []string{"front"}}}
	got, err := run(t, t.Context(), texts.Compose, in)
	if err != nil || got.Verdict == nil || seen.Tool != "a2a_shop" || !seen.Destructive || seen.Node != "n" || seen.Facts.Chain[0] != "front" ||
		string(seen.Arguments) != `{"message":"write it"}` || seen.Time.IsZero() {
		t.Errorf("%+v, %v; judged %+v", got, err, seen)
	}
}

// A tool of our own that reads from a server is judged as a call of that server.
func TestRulesSeeTheServerThatOwnToolsRead(t *testing.T) {
	var seen []string
	read := tool("read_resource", false)
	read.Server = ""
	m := &activities.Models{
		Blobs: newMemory(), Offer: fakeOffer{tools: []toolbox.Tool{read}},
		Model:  replies(llm.Reply{Calls: []llm.Call{{ID: "1", Name: "read_resource", Arguments: json.RawMessage(`{"server":"db","uri":"x:y"}`)}}}, nil),
		Policy: judge(func(c verdict.Call) *verdict.Verdict { seen = append(seen, c.Server); return nil }),
	}
	if _, err := run(t, t.Context(), m.Generate, question("hi")); err != nil || len(seen) != 1 || seen[0] != "db" {
		t.Errorf("%q, %v", seen, err)
	}
}

// previewing is a server that tells previews.
type previewing struct{ asked []string }

func (p *previewing) Facts(_ context.Context, t toolbox.Tool, name string, args json.RawMessage, _ string) (told.Answer, error) {
	p.asked = append(p.asked, t.Name)
	return told.Answer{Text: name + " of " + string(args)}, nil
}

func TestACallThatAsksHasThePreviewOfItsServer(t *testing.T) {
	source := map[string]told.Source{told.Preview: {Name: told.Preview, Tool: "tell"}}
	add, list := tool("add", true), tool("list", false)
	add.Facts, list.Facts = source, source
	for name, c := range map[string]struct {
		policy rules.Policy
		want   []string
	}{
		"no rules": {nil, []string{"add"}}, "asks": {judging(verdict.Ask), []string{"add", "list"}}, "allows": {judging(verdict.Allow), nil}, "denies": {judging(verdict.Deny), nil},
	} {
		servers := &previewing{}
		m := &activities.Models{
			Blobs: newMemory(), Offer: fakeOffer{tools: []toolbox.Tool{add, list}}, Policy: c.policy, Servers: servers, Now: func() time.Time { return noonUTC },
			Model: replies(llm.Reply{Calls: []llm.Call{{ID: "1", Name: "add", Arguments: json.RawMessage(`{"a":1}`)}, {ID: "2", Name: "list", Arguments: json.RawMessage(`{}`)}}}, nil),
		}
		out, err := run(t, t.Context(), m.Generate, question("hi"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, servers.asked); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if got := out.Calls[0].Preview; len(c.want) > 0 && got != `preview of {"a":1}` {
			t.Errorf("%s: %q", name, got)
		}
	}
}
