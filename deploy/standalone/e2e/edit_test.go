package e2e_test

import (
	"encoding/json"
	"strings"
	"testing"

	"agent-stop-and-go/workflows/contract"
)

// Somebody approves a call with changes. What the rules refuse is refused, for what others have to
// approve they are asked, and what runs is what they have seen.
func TestAPersonChangesACall(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.extra = proxyAuth + `approval:
  rules:
    - {name: finals, when: 'tool == "note_add" && args.name.startsWith("final")', then: {ask: {edit: [name]}}}
    - {name: secrets, when: 'tool == "note_add" && args.name.contains("secret")', then: {deny: "Secrets are not noted."}}
    - {name: public, when: 'tool == "note_add" && args.name.contains("public")', then: {ask: {by: ["group:ops"], not_requester: true, edit: [name]}}}
`
	api, p := h.inside()
	asked := api.ask(`call note_add {"name":"final"}`, alice)
	first, id := asked.Result.Approval.UUID, asked.Conversation.ID
	say := func(status int, uuid, edit string, who ...string) string {
		t.Helper()
		got := api.do("POST", "/approvals/"+uuid, `{"approved":true,"edit":`+edit+`}`, who...)
		if got.Status != status {
			t.Errorf("%s: status %d: %s", edit, got.Status, got.Raw)
		}
		return got.Raw
	}
	for edit, want := range map[string]string{`{"title":"x"}`: "what may be changed is name", `{"name":{}}`: "name", `{"name":"final"}`: "nothing is changed"} {
		if raw := say(400, first, edit, alice); !strings.Contains(raw, want) {
			t.Errorf("%s: %s", edit, raw)
		}
	}
	if raw := say(403, first, `{"name":"secret"}`, alice); !strings.Contains(raw, "Secrets are not noted.") {
		t.Error(raw)
	}
	second := h.nextApproval(api, id, first, func() { say(200, first, `{"name":"public"}`, alice) })
	var state struct {
		Approval struct {
			Args        json.RawMessage `json:"tool_args"`
			Description string
		}
	}
	if err := json.Unmarshal([]byte(api.do("GET", "/approvals/"+second, "", carol, ops).Raw), &state); err != nil || string(state.Approval.Args) != `{"name":"public"}` ||
		!strings.Contains(state.Approval.Description, `Changed by alice: name is now "public", and was "final"`) {
		t.Errorf("%+v %v", state, err)
	}
	api.want(403, "POST", "/approvals/"+second, `{"approved":true}`, alice, ops)
	if got := api.do("POST", "/approvals/"+second, `{"approved":true}`, carol, ops); got.Status != 202 {
		t.Errorf("status %d: %s", got.Status, got.Raw)
	}
	eventually(t, "the changed call runs", func() bool { return len(h.tools.called("note_add")) == 1 })
	eventually(t, "the turn is over", func() bool {
		return api.want(200, "GET", "/conversations/"+id, "", alice).Conversation.Status == "active"
	})
	if raw := api.do("GET", "/conversations/"+id+"?include=messages", "", alice).Raw; !strings.Contains(raw, "added public") || !strings.Contains(raw, `"arguments":{"name":"final"}`) ||
		!strings.Contains(raw, `"changes":[{"name":"name","before":"\"final\"","after":"\"public\""}]`) {
		t.Error(raw)
	}
	say(409, first, `{"name":"other"}`, alice)
	keep(t, p.Client, "edited", contract.ConversationWorkflowID(id))
	keep(t, p.Client, "edited-approval", contract.ApprovalWorkflowID(first))
}

// Rules that have changed while calls wait count when somebody approves them: one is refused, and
// about the other one others are asked.
func TestRulesThatChangeCountForWhatWaits(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	const first = `    - {name: notes, when: 'tool == "note_add"', then: ask}` + "\n"
	h.extra = proxyAuth + "approval:\n  rules:\n" + first
	api, p := h.inside()
	refused, asked := api.ask(`call note_add {"name":"one"}`, alice), api.ask(`call note_add {"name":"two"}`, alice)
	if err := p.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.extra += `    - {name: never, when: 'tool == "note_add" && args.name == "one"', then: {deny: "No more notes."}}
    - {name: ops, when: 'tool == "note_add" && args.name == "two"', then: {ask: {by: ["group:ops"], not_requester: true}}}
`
	api, p = h.inside()
	uuid := refused.Result.Approval.UUID
	if got := api.do("POST", "/approvals/"+uuid, `{"approved":true}`, alice); got.Status != 403 || !strings.Contains(got.Raw, "the rule never refuses the call now. No more notes.") {
		t.Errorf("status %d: %s", got.Status, got.Raw)
	}
	if raw := api.do("GET", "/approvals/"+uuid, "", alice).Raw; !strings.Contains(raw, `"status":"rejected"`) || !strings.Contains(raw, `"via":"policy"`) {
		t.Error(raw)
	}
	uuid, id := asked.Result.Approval.UUID, asked.Conversation.ID
	next := h.nextApproval(api, id, uuid, func() { api.want(200, "POST", "/approvals/"+uuid, `{"approved":true}`, alice) })
	if got := api.do("POST", "/approvals/"+next, `{"approved":true}`, carol, ops); got.Status != 202 {
		t.Errorf("status %d: %s", got.Status, got.Raw)
	}
	eventually(t, "the call runs", func() bool { return len(h.tools.called("note_add")) == 1 })
	eventually(t, "the turn is over", func() bool {
		return api.want(200, "GET", "/conversations/"+id, "", alice).Conversation.Status == "active"
	})
	keep(t, p.Client, "tightened", contract.ConversationWorkflowID(id))
	keep(t, p.Client, "tightened-approval", contract.ApprovalWorkflowID(uuid))
	keep(t, p.Client, "held-approval", contract.ApprovalWorkflowID(refused.Result.Approval.UUID))
}
