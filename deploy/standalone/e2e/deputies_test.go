package e2e_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deputy"
)

// TestRecordDeputies records the deputies of an agent and an approval that one has decided. Two of a group
// must approve. Whatever deputies they have: the two of a deputy and the one they stand
// for are one, the requester is nobody's deputy, and who is revoked decides no more.
func TestRecordDeputies(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.extra = proxyAuth + `approval:
  rules:
    - {name: two, when: 'tool == "note_add"', then: {ask: {by: ["group:ops"], not_requester: true, count: 2}}}
`
	api, p := h.inside()
	appoint := func(to string, headers ...string) (id string) {
		t.Helper()
		raw := api.do("POST", "/deputies", `{"to":{"subject":"`+to+`"},"for":"1h","reason":"holidays"}`, headers...)
		var d struct{ ID string }
		if err := json.Unmarshal([]byte(raw.Raw), &d); err != nil || raw.Status != 201 {
			t.Fatalf("%d: %s", raw.Status, raw.Raw)
		}
		return d.ID
	}
	asked := api.ask(`call note_add {"name":"x"}`, alice)
	id, first := asked.Conversation.ID, asked.Result.Approval.UUID
	api.want(404, "POST", "/approvals/"+first, `{"approved":true}`, bob)
	toAlice, toBob := appoint("alice", carol, ops), appoint("bob", carol, ops)
	api.want(403, "POST", "/approvals/"+first, `{"approved":true}`, alice) // the requester
	if list := api.do("GET", "/approvals", "", bob).Raw; !strings.Contains(list, first) {
		t.Errorf("a deputy does not see what waits: %s", list)
	}
	if err := p.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	api, p = h.inside() // deputies survive
	second := h.nextApproval(api, id, first, func() {
		if got := api.do("POST", "/approvals/"+first, `{"approved":true}`, bob); got.Status != 202 {
			t.Errorf("%d: %s", got.Status, got.Raw)
		}
	})
	for who, headers := range map[string][]string{"the other": {carol, ops}, "the deputy, in the group since": {bob, ops}, "the requester": {alice, ops}} {
		if got := api.do("POST", "/approvals/"+second, `{"approved":true}`, headers...); got.Status != 403 && got.Status != 404 {
			t.Errorf("%s counts: %d %s", who, got.Status, got.Raw)
		}
	}
	if n := len(h.tools.called("note_add")); n != 0 {
		t.Fatalf("it ran %d times", n)
	}
	last := appoint("erin", "X-Subject: dave", ops)
	if got := api.do("POST", "/approvals/"+second, `{"approved":true}`, "X-Subject: erin"); got.Status != 202 {
		t.Errorf("%d: %s", got.Status, got.Raw)
	}
	eventually(t, "the call runs", func() bool { return len(h.tools.called("note_add")) == 1 })
	eventually(t, "the record names both", func() bool {
		raw := api.do("GET", "/approvals/"+second, "", alice).Raw
		return strings.Contains(raw, `"by":"erin"`) && strings.Contains(raw, `"for":{"id":"`+last+`","from":{"subject":"dave"`)
	})

	eventually(t, "the turn is over", func() bool {
		return api.want(200, "GET", "/conversations/"+id, "", alice).Conversation.Status == "active"
	})
	third := api.want(200, "POST", "/conversations/"+id+"/messages", messageJSON(`call note_add {"name":"y"}`), alice).Result.Approval.UUID
	if got := api.do("DELETE", "/deputies/"+toBob, "", carol); got.Status != 204 {
		t.Errorf("%d: %s", got.Status, got.Raw)
	}
	api.want(404, "POST", "/approvals/"+third, `{"approved":true}`, bob)
	if list := api.do("GET", "/deputies", "", carol).Raw; !strings.Contains(list, toAlice) || strings.Contains(list, toBob) {
		t.Errorf("the list: %s", list)
	}
	forged := contract.DecideSignal{Approved: true, By: "bob", Identity: contract.Identity{Subject: "bob", Issuer: "proxy"}, Proof: "v1.k1.AAAA"}
	boss := deputy.Person{Subject: "carol", Issuer: "proxy", Groups: []string{"ops"}, Scopes: []string{contract.ScopeApprove}}
	forged.For = &deputy.Deputy{ID: toBob, From: boss, To: deputy.Person{Subject: "bob", Issuer: "proxy"}, Until: time.Now().Add(time.Hour)}
	if err := p.Client.SignalWorkflow(t.Context(), contract.ApprovalWorkflowID(third), "", contract.SignalDecide, forged); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the approval refuses a deputy that nobody has appointed", func() bool {
		return strings.Contains(api.do("GET", "/approvals/"+third, "", alice).Raw, "problem")
	})
	keep(t, p.Client, "deputies", deputy.WorkflowID(h.queue))
	keep(t, p.Client, "deputized-approval", contract.ApprovalWorkflowID(second))
}
