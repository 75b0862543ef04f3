package rules_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"agent-stop-and-go/activities/rules"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/activities/toolbox/schema"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/review"
	"agent-stop-and-go/workflows/contract/verdict"
)

// shop lists one tool, and checks as a toolbox does.
type shop struct{}

const refundSchema = `{"type":"object","properties":{"amount":{"type":"integer","maximum":1000},"to":{"type":"string"}},"required":["amount","to"]}`

func (shop) Tools(context.Context) []toolbox.Tool {
	return []toolbox.Tool{{Tool: contract.Tool{Name: "refund", Server: "shop", InputSchema: json.RawMessage(refundSchema), DestructiveHint: true}}}
}

func (shop) Check(_ context.Context, _ string, args json.RawMessage) (json.RawMessage, string) {
	return args, schema.Misfit(json.RawMessage(refundSchema), args)
}

func TestAChangedCallIsCheckedAndJudgedAgain(t *testing.T) {
	p := &policy{}
	r := rules.Reviewer{Policy: p, Offer: shop{}}
	basis := `{"read_only":true,"node":"desk","facts":{"chain":["front"]},"before":[{"tool":"backup"}],"reply":[{"tool":"find"}],"policy":"0123456789ab"}`
	in := review.Input{
		Tool: "refund", Server: "shop", Arguments: contract.JSON{Raw: []byte(`{"amount":700,"to":"bob"}`)}, Basis: contract.JSON{Raw: []byte(basis)},
		Edit: []byte(`{"amount":400}`), Allowed: []string{"amount"},
	}
	out, err := r.Review(t.Context(), in)
	if err != nil || out.Problem != "" || out.Policy != p.Version() || out.Verdict == nil || string(out.Revision.Arguments.Raw) != `{"amount":400,"to":"bob"}` ||
		out.Revision.SHA256 != contract.Hash(out.Revision.Arguments.Raw) || len(out.Revision.Changes) != 1 {
		t.Fatalf("%+v %v", out, err)
	}
	c := p.judged[0]
	if string(c.Arguments) != `{"amount":400,"to":"bob"}` || c.Node != "desk" || c.Facts.Chain[0] != "front" || c.Before[0].Tool != "backup" || c.Reply[0].Tool != "find" ||
		!c.ReadOnly || c.Destructive || c.Time.IsZero() || strings.Join(c.Names, " ") != "amount to" {
		t.Errorf("judged %+v", c)
	}
	in.Basis, in.Waits.Policy = contract.JSON{}, p.Version()
	if _, err := r.Review(t.Context(), in); err != nil || p.judged[1].Facts != nil || p.judged[1].Before != nil || !p.judged[1].Destructive {
		t.Errorf("nothing known: %+v %v", p.judged[1], err)
	}
	for changes, want := range map[string]string{
		`{"amount":"much"}`: "amount", `{"amount":5000}`: "amount", `{"to":"eve"}`: "may not be changed", `{"amount":700}`: "nothing is changed",
	} {
		in.Edit = []byte(changes)
		if out, err := r.Review(t.Context(), in); err != nil || out.Revision != nil || !strings.Contains(out.Problem, want) || !strings.HasPrefix(out.Problem, "edit: ") {
			t.Errorf("%s: %+v %v", changes, out, err)
		}
	}
	in.Server, in.Edit = "gone", []byte(`{"amount":400}`)
	if out, err := r.Review(t.Context(), in); err != nil || !strings.Contains(out.Problem, "does not list refund now") {
		t.Errorf("%+v %v", out, err)
	}
	if len(p.judged) != 2 {
		t.Errorf("what is refused was judged %d times", len(p.judged)-2)
	}
}

// The server of a tool of our own is in its arguments.
func TestAChangedCallOfOurOwnToolIsJudgedByItsServer(t *testing.T) {
	p := &policy{}
	in := review.Input{
		Tool: toolbox.ToolRead, Arguments: contract.JSON{Raw: []byte(`{"server":"notes","uri":"x"}`)}, Basis: contract.JSON{Raw: []byte(`{"before":[],"policy":"earlier"}`)},
	}
	if _, err := (rules.Reviewer{Policy: p, Offer: shop{}}).Review(t.Context(), in); err != nil || p.judged[0].Server != "notes" {
		t.Errorf("%+v %v", p.judged, err)
	}
}

// Other rules may not ask at all, and so would release a call that waits.
func TestACallIsNotChangedWhenTheRulesHaveChanged(t *testing.T) {
	p := &policy{}
	in := review.Input{
		Tool: "refund", Server: "shop", Arguments: contract.JSON{Raw: []byte(`{"amount":700,"to":"bob"}`)}, Basis: contract.JSON{Raw: []byte(`{"before":[],"policy":"earlier"}`)},
		Edit: []byte(`{"amount":400}`), Allowed: []string{"amount"},
	}
	out, err := (rules.Reviewer{Policy: p, Offer: shop{}}).Review(t.Context(), in)
	if err != nil || out.Revision != nil || !strings.Contains(out.Problem, "the rules have changed") || len(p.judged) > 0 {
		t.Errorf("%+v %v", out, err)
	}
}

func TestAChangedDelegationNeedsAMessage(t *testing.T) {
	r := rules.Reviewer{Policy: &policy{}, Offer: shop{}}
	in := review.Input{Tool: "a2a_shop", Arguments: contract.JSON{Raw: []byte(`{"message":"buy"}`)}, Edit: []byte(`{"message":"sell"}`), Allowed: []string{"message"}, Waits: verdict.Verdict{Policy: (&policy{}).Version()}}
	if out, err := r.Review(t.Context(), in); err != nil || out.Problem != "" || string(out.Revision.Arguments.Raw) != `{"message":"sell"}` {
		t.Errorf("%+v %v", out, err)
	}
	in.Edit = []byte(`{"message":7}`)
	if out, _ := r.Review(t.Context(), in); !strings.Contains(out.Problem, "message") {
		t.Errorf("%+v", out)
	}
}

func TestACallThatWaitsIsJudgedOnlyByOtherRules(t *testing.T) {
	p := &policy{}
	r := rules.Reviewer{Policy: p, Offer: shop{}}
	in := review.Input{Tool: "refund", Server: "shop", Arguments: contract.JSON{Raw: []byte(`{"amount":700,"to":"bob"}`)}, Basis: contract.JSON{Raw: []byte(`{"before":null,"policy":"` + p.Version() + `"}`)}}
	if out, err := r.Review(t.Context(), in); err != nil || len(p.judged) != 0 || out.Policy != p.Version() || out.Tightened != nil {
		t.Errorf("the same rules: %+v %v", out, err)
	}
	in.Waits.Policy = "older"
	if out, err := r.Review(t.Context(), in); err != nil || len(p.judged) != 1 || out.Verdict == nil || out.Revision != nil {
		t.Errorf("other rules: %+v %v", out, err)
	}
	if out, err := (rules.Reviewer{Offer: shop{}}).Review(t.Context(), in); err != nil || out.Verdict != nil || out.Tightened != nil {
		t.Errorf("no rules any more: %+v %v", out, err)
	}
}

// A worker with other rules leaves the judging to one that has those that are asked for, and one that has
// them says also what they alone need.
func TestOnlyTheRulesThatAreAskedForJudge(t *testing.T) {
	p := &policy{}
	r := rules.Reviewer{Policy: p, Offer: shop{}}
	in := review.Input{
		Tool: "refund", Server: "shop", Arguments: contract.JSON{Raw: []byte(`{"amount":7,"to":"bob"}`)}, Basis: contract.JSON{Raw: []byte(`{"destructive":true,"before":[],"policy":"old"}`)},
		Waits: verdict.Verdict{Policy: p.Version(), Asks: []verdict.Approval{{Rule: "big", By: []string{"group:finance"}}}}, Policy: "elsewhere",
	}
	if _, err := r.Review(t.Context(), in); !errors.Is(err, rules.ErrOtherRules) || len(p.judged) != 0 {
		t.Errorf("other rules have judged: %v", err)
	}
	in.Policy = p.Version() // also if they have judged before, for a release
	out, err := r.Review(t.Context(), in)
	if err != nil || len(p.judged) != 1 || out.Loosened == nil || out.Loosened.Policy != p.Version() {
		t.Errorf("%+v %v", out, err)
	}
}
