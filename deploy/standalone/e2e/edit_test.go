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
