package standing_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/grant"
	"agent-stop-and-go/workflows/contract/standing"
)

var now = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

const alice, bob = "idp alice", "idp bob"

// entry is a grant of somebody who may decide for others, as a scope, and call one that it covers.
func entry(t *testing.T, s grant.Scope) (standing.Entry, standing.Call) {
	t.Helper()
	args, err := grant.Of([]byte(`{"amount":5}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	e := standing.Entry{By: standing.Person{Subject: "olga", Issuer: "idp", Scopes: []string{contract.ScopeApprove}, Groups: []string{"ops"}}, Terms: standing.Terms{
		ID: contract.NameUUID("one", "x"), Conversation: "c", Agent: "shop", Node: "desk", Server: "bank", Tool: "refund", Address: "https://bank", Definition: "d",
		Arguments: args, Rule: "big", Rules: "rr", Policy: "p", Scope: s, Until: now.Add(time.Hour), Uses: 5,
	}}
	e.Of = map[grant.Scope]string{grant.Turn: "c r", grant.Conversation: "c", grant.Caller: alice}[s]
	return e, standing.Call{
		Key: "k", Conversation: "c", Turn: "r", Caller: alice, Owner: alice, Agent: "shop", Node: "desk", Server: "bank", Tool: "refund", Address: "https://bank",
		Definition: "d", Rules: "rr", Arguments: json.RawMessage(`{"amount":5}`), Approvers: []string{"group:ops"},
	}
}

// Each is a call that asks although there is a grant for one that is nearly the same.
func TestCallsThatAGrantIsNotFor(t *testing.T) {
	everywhere := grant.Scopes()
	at := func(s ...grant.Scope) []grant.Scope { return s }
	for name, c := range map[string]struct {
		scopes []grant.Scope
		change func(*standing.Call)
	}{
		"the tool of this name of another server": {everywhere, func(c *standing.Call) { c.Server = "other" }},
		"another tool of the server":              {everywhere, func(c *standing.Call) { c.Tool = "refund_all" }},
		"a tool in another case":                  {everywhere, func(c *standing.Call) { c.Tool = "Refund" }},
		"a server that has moved":                 {everywhere, func(c *standing.Call) { c.Address = "https://bank.example" }},
		"a server whose address is not known":     {everywhere, func(c *standing.Call) { c.Address = "" }},
		"a schema, text or hint that has changed": {everywhere, func(c *standing.Call) { c.Definition = "e" }},
		"a definition that is not known":          {everywhere, func(c *standing.Call) { c.Definition = "" }},
		"rules that have changed":                 {everywhere, func(c *standing.Call) { c.Rules = "ss" }},
		"rules that are not known":                {everywhere, func(c *standing.Call) { c.Rules = "" }},
		"another node of the tree":                {everywhere, func(c *standing.Call) { c.Node = "back office" }},
		"no node":                                 {everywhere, func(c *standing.Call) { c.Node = "" }},
		"another agent":                           {everywhere, func(c *standing.Call) { c.Agent = "helper" }},
		"other arguments":                         {everywhere, func(c *standing.Call) { c.Arguments = json.RawMessage(`{"amount":5.0}`) }},
		"other people are asked now":              {everywhere, func(c *standing.Call) { c.Approvers = []string{"group:finance"} }},
		"the requester is asked now":              {everywhere, func(c *standing.Call) { c.Approvers = nil }},
		"only one person is asked now":            {everywhere, func(c *standing.Call) { c.Approvers = []string{"subject:anne"} }},
		"a call for whoever has granted it":       {everywhere, func(c *standing.Call) { c.Owner, c.Approvers = "idp olga", []string{"group:ops", "not_requester"} }},
		"another message":                         {at(grant.Turn), func(c *standing.Call) { c.Turn = "s" }},
		"a message that is not known":             {at(grant.Turn), func(c *standing.Call) { c.Turn = "" }},
		"this message in a fork":                  {at(grant.Turn), func(c *standing.Call) { c.Conversation = "fork" }},
		"a fork, and a sub-agent's conversation":  {at(grant.Conversation), func(c *standing.Call) { c.Conversation = "fork" }},
		"another caller":                          {at(grant.Caller), func(c *standing.Call) { c.Caller = bob }},
		"the name of the caller elsewhere":        {at(grant.Caller), func(c *standing.Call) { c.Caller = "keys alice" }},
		"a caller who is not known":               {at(grant.Caller), func(c *standing.Call) { c.Caller = "" }},
	} {
		for _, s := range c.scopes {
			e, call := entry(t, s)
			if !e.Covers(call, now) || !e.Covers(call, e.Until.Add(-time.Second)) || e.Covers(call, e.Until) {
				t.Fatalf("%s: it covers the call itself at other times", s)
			}
			if c.change(&call); e.Covers(call, now) {
				t.Errorf("%s: %s", s, name)
			}
		}
	}
	if e, call := entry(t, "everything"); e.Covers(call, now) {
		t.Error("a scope that there is not")
	}
}

// What is not bound may change: it is for the same calls.
func TestCallsThatAGrantIsFor(t *testing.T) {
	for s, change := range map[grant.Scope]func(*standing.Call){
		grant.Turn:         func(c *standing.Call) { c.Caller, c.Owner = bob, bob },
		grant.Conversation: func(c *standing.Call) { c.Turn, c.Caller = "s", bob },
		grant.Caller:       func(c *standing.Call) { c.Conversation, c.Turn, c.Owner = "d", "s", bob },
		grant.Agent:        func(c *standing.Call) { c.Conversation, c.Turn, c.Caller, c.Owner = "d", "s", bob, bob },
	} {
		e, call := entry(t, s)
		if change(&call); !e.Covers(call, now) {
			t.Errorf("%s: %+v", s, call)
		}
	}
}

// A grant is worth what a yes of now would be of the one who has given it.
func TestAGrantOfSomebodyWhoMayNotApprove(t *testing.T) {
	e, call := entry(t, grant.Agent)
	e.By = standing.Person{Subject: "alice", Issuer: "idp", Scopes: []string{contract.ScopeApprove}}
	if call.Approvers = nil; !e.Covers(call, now) {
		t.Error("the requester decides")
	}
	if call.Owner = bob; e.Covers(call, now) {
		t.Error("of somebody else's call")
	}
	if e.By.Scopes = []string{contract.ScopeApproveAll}; !e.Covers(call, now) {
		t.Error("whoever decides everything")
	}
	e.By = standing.Person{Claimed: "alice"}
	if e.Covers(call, now) {
		t.Error("nobody who is known, although somebody is asked")
	}
	call.Owner, call.Caller = "", ""
	if !e.Covers(call, now) {
		t.Error("nobody is known, and everybody is asked")
	}
	if call.Approvers = []string{"group:ops"}; e.Covers(call, now) {
		t.Error("nobody is known, and some are asked")
	}
}

func pending() contract.PendingApproval {
	return contract.PendingApproval{
		UUID: contract.NameUUID("one", "x"), ConversationID: "c", AgentName: "shop", Server: "bank", ToolName: "refund", Rule: "big", Policy: "p",
		ToolArgs: contract.JSON{Raw: []byte(`{"amount":5,"note":"` + "`x`" + ` and \"y\""}`)}, Binding: &contract.Binding{Address: "https://bank", SHA256: "d"},
		Always: &grant.Offer{Scopes: grant.Scopes(), AtMost: time.Hour, Uses: 5, Open: []string{"note"}, Rules: "rr", Node: "desk", Caller: alice, Turn: "r"},
	}
}

// What is shown is what is granted: each part of it changes the digest, or is shown, or both.
func TestWhatIsShownIsGranted(t *testing.T) {
	choice := grant.Choice{Scope: grant.Caller, Until: now.Add(time.Hour), Uses: 2, Open: []string{"note"}}
	terms, err := standing.Propose(pending(), choice, now)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		"Until 2026-03-01 11:00:00 UTC, up to 2 calls", `the tool "refund" of the server "bank"`, `by the node "desk"`, `messages of "idp alice" in any conversation`,
		`exactly {"amount":5} beside "note", which may be any text`, `now "big" of version p`, "may not approve it",
	} {
		if !strings.Contains(terms.Text(), part) {
			t.Errorf("%q is not in %q", part, terms.Text())
		}
	}
	choice.Digest = terms.Digest()
	for name, change := range map[string]func(*contract.PendingApproval, *grant.Choice){
		"":                 func(*contract.PendingApproval, *grant.Choice) {},
		"scope":            func(_ *contract.PendingApproval, c *grant.Choice) { c.Scope = grant.Agent },
		"until":            func(_ *contract.PendingApproval, c *grant.Choice) { c.Until = now.Add(time.Minute) },
		"uses":             func(_ *contract.PendingApproval, c *grant.Choice) { c.Uses = 3 },
		"open":             func(_ *contract.PendingApproval, c *grant.Choice) { c.Open = nil },
		"arguments":        func(p *contract.PendingApproval, _ *grant.Choice) { p.ToolArgs.Raw = []byte(`{"amount":6,"note":"x"}`) },
		"server":           func(p *contract.PendingApproval, _ *grant.Choice) { p.Binding.Address = "https://other" },
		"rules":            func(p *contract.PendingApproval, _ *grant.Choice) { p.Always.Rules = "ss" },
		"no binding":       func(p *contract.PendingApproval, _ *grant.Choice) { p.Binding = nil },
		"nothing offered":  func(p *contract.PendingApproval, _ *grant.Choice) { p.Always = nil },
		"kind of the open": func(p *contract.PendingApproval, _ *grant.Choice) { p.ToolArgs.Raw = []byte(`{"amount":5,"note":[]}`) },
	} {
		p, c := pending(), choice
		change(&p, &c)
		if _, err := standing.Confirmed(p, c, now); (err != nil) != (name != "") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
