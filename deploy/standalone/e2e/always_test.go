package e2e_test

import (
	"encoding/json"
	"strings"
	"testing"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/standing"
)

const alwaysRules = `approval:
  rules:
    - {name: notes, when: 'tool == "note_add"', then: {ask: {always: {scopes: [turn, conversation, agent], at_most: 7d, uses: 3}}}}
`

// Somebody approves a call for later ones, too, after they were shown for which. The same call runs then,
// with the grant in its record, as often as was granted, also after a crash; another call asks, and the same
// one after it was revoked and after the rules have changed.
func TestAPersonApprovesACallForLaterOnesToo(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.extra = proxyAuth + alwaysRules
	api, p := h.outside()
	add := `call note_add {"name":"x"}`
	uuid := api.ask(add, alice).Result.Approval.UUID
	give := func(uuid, scope string) (text string) {
		t.Helper()
		var shown struct {
			Text   string
			Always json.RawMessage
		}
		raw := api.do("POST", "/approvals/"+uuid+"/always", `{"scope":"`+scope+`","for":"2h"}`, alice)
		if err := json.Unmarshal([]byte(raw.Raw), &shown); err != nil || raw.Status != 200 {
			t.Fatalf("%d: %s", raw.Status, raw.Raw)
		}
		other := strings.Replace(string(shown.Always), `"uses":3`, `"uses":2`, 1)
		if got := api.do("POST", "/approvals/"+uuid, `{"approved":true,"always":`+other+`}`, alice); got.Status != 400 || !strings.Contains(got.Raw, "have it shown again") {
			t.Errorf("something else than what was shown: %d: %s", got.Status, got.Raw)
		}
		if got := api.do("POST", "/approvals/"+uuid, `{"approved":true,"always":`+string(shown.Always)+`}`, alice); got.Status != 200 || !strings.Contains(got.Raw, `"always":{`) || strings.Contains(got.Raw, `"problem"`) {
			t.Fatalf("%d: %s", got.Status, got.Raw)
		}
		return shown.Text
	}
	if text := give(uuid, "agent"); !strings.Contains(text, `up to 3 calls of the tool "note_add" of the server`) || !strings.Contains(text, `{"name":"x"}`) {
		t.Error(text)
	}
	runs := func(want int) (raw string) {
		t.Helper()
		c := api.ask(add, alice)
		if c.Result.Approval != nil || len(h.tools.called("note_add")) != want {
			t.Fatalf("it asks, or ran %d times: %+v", len(h.tools.called("note_add")), c.Result)
		}
		return api.do("GET", "/conversations/"+c.Conversation.ID+"?include=messages", "", alice).Raw
	}
	asks := func(call string) string {
		t.Helper()
		a := api.ask(call, alice).Result.Approval
		if a == nil {
			t.Fatalf("it ran: %s", call)
		}
		return a.UUID
	}
	if raw := runs(2); !strings.Contains(raw, `"grant":{"id":"`+uuid+`","by":"alice","proven":true,"scope":"agent"`) || !strings.Contains(raw, `"number":1,"left":2}`) {
		t.Error(raw)
	}
	if of := api.ask(add, bob); of.Result.Approval == nil {
		t.Error("alice approves for bob, whose call only he may approve")
	}
	p.kill()
	api, p = h.outside()
	if raw := runs(3); !strings.Contains(raw, `"number":2,"left":1}`) {
		t.Error(raw)
	}
	for _, other := range []string{`{"name":"*"}`, `{"name":"X"}`, `{"name":"x","more":null}`, `{"name":"x "}`} {
		asks(`call note_add ` + other)
	}
	runs(4)
	again := asks(add) // used up
	if raw := api.do("GET", "/grants/"+uuid, "", alice).Raw; !strings.Contains(raw, `"used":3`) || !strings.Contains(raw, `"counts":false`) || !strings.Contains(raw, `"by":{"subject":"alice","issuer":"proxy"}`) {
		t.Error(raw)
	}
	give(again, "agent")
	runs(6)
	if got := api.do("DELETE", "/grants/"+again, "", bob); got.Status != 404 {
		t.Errorf("somebody else revokes: %d", got.Status)
	}
	if got := api.do("DELETE", "/grants/"+again, "", alice); got.Status != 204 {
		t.Errorf("%d: %s", got.Status, got.Raw)
	}
	third := asks(add)
	give(third, "agent")
	p.kill()
	h.extra = strings.Replace(h.extra, "notes, when: 'tool == ", "notes, when: 'tool != \"x\" && tool == ", 1) // the same calls, but another rule
	api, _ = h.outside()
	asks(add)
	c := h.dial()
	keep(t, c, "always-approval", contract.ApprovalWorkflowID(uuid))
	keep(t, c, "grants", standing.WorkflowID(h.queue))
	if n := len(h.tools.called("note_add")); n != 7 {
		t.Errorf("it ran %d times", n)
	}
}
