package rules_test

import (
	"context"
	"errors"
	"testing"

	"agent-stop-and-go/activities/rules"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/grant"
	"agent-stop-and-go/workflows/contract/standing"
	"agent-stop-and-go/workflows/contract/verdict"
)

// offering asks about each call, and offers grants for those of refund.
type offering struct{}

func (offering) FactsFor(verdict.Call) []string { return nil }
func (offering) Version() string                { return "0123456789ab" }
func (offering) Judge(c verdict.Call) *verdict.Verdict {
	v := &verdict.Verdict{Outcome: verdict.Ask, Rule: "big", Policy: "0123456789ab", Asks: []verdict.Approval{{Rule: "big"}}}
	if c.Tool == "refund" {
		v.Asks[0].Always = &grant.Offer{Scopes: grant.Scopes(), Rules: "rr"}
	}
	return v
}

type book func(standing.Call) (*grant.Use, error)

func (b book) Use(_ context.Context, c standing.Call) (*grant.Use, error) { return b(c) }

func TestACallThatIsGrantedDoesNotAsk(t *testing.T) {
	var asked []standing.Call
	var use *grant.Use
	var failure error
	j := rules.Judge{
		Policy: offering{}, Conversation: "c", Draft: "d", About: verdict.Call{Node: "desk", Facts: &verdict.Facts{Caller: &verdict.Caller{Subject: "alice", Issuer: "keys", Request: "r"}}},
		Grants: book(func(c standing.Call) (*grant.Use, error) { asked = append(asked, c); return use, failure }),
	}
	refund := toolbox.Tool{Tool: contract.Tool{Name: "refund", Server: "shop", InputSchema: []byte(`{}`)}, Address: "http://shop"}
	other := refund
	other.Name = "find"
	own := refund
	own.Address = ""
	for _, tool := range []toolbox.Tool{other, own} {
		if v := j.Call(t.Context(), tool, true, []byte(`{"a":1}`)); !v.Asking() || len(asked) > 0 {
			t.Fatalf("%s is looked up %d times: %+v", tool.Name, len(asked), v)
		}
	}
	if v := j.Call(t.Context(), refund, true, []byte(`{"a":1}`)); !v.Asking() || v.Offer() == nil || v.Grant != nil {
		t.Errorf("no grant: %+v", v)
	}
	failure = errors.New("the server is away")
	if v := j.Call(t.Context(), refund, true, []byte(`{"a":1}`)); !v.Asking() || v.Text != "it is not known whether it is approved already: the server is away" {
		t.Errorf("%+v", v)
	}
	use, failure = &grant.Use{ID: "g", Number: 1}, nil
	if v := j.Call(t.Context(), refund, true, []byte(`{"a":1}`)); !v.Granted() || v.Rule != "big" || v.Asks != nil || v.Grant.ID != "g" {
		t.Errorf("%+v", v)
	}
	c := asked[0]
	if c.Conversation != "c" || c.Turn != "r" || c.Caller != "keys alice" || c.Node != "desk" || c.Server != "shop" || c.Address != "http://shop" || c.Definition == "" || c.Rules != "rr" || string(c.Arguments) != `{"a":1}` {
		t.Errorf("%+v", c)
	}
	if asked[1].Key != c.Key || asked[2].Key != c.Key {
		t.Error("another attempt has another key")
	}
	j.Next("refund")
	j.Call(t.Context(), refund, true, []byte(`{"a":1}`))
	j.Draft = "e"
	j.Call(t.Context(), refund, true, []byte(`{"a":1}`))
	j.Call(t.Context(), refund, true, []byte(`{"a":2}`))
	keys := map[string]bool{c.Key: true}
	for _, one := range asked[3:] {
		if keys[one.Key] {
			t.Errorf("two calls have one key: %+v", one)
		}
		keys[one.Key] = true
	}
	j.Draft = ""
	if v := j.Call(t.Context(), refund, true, []byte(`{"a":1}`)); !v.Asking() {
		t.Error("a call of an older history is granted")
	}
}
