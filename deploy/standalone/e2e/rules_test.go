package e2e_test

import (
	"encoding/json"
	"strings"
	"testing"

	"agent-stop-and-go/workflows/contract"
)

const (
	carefulRules = `approval:
  rules:
    - {name: drafts, when: 'tool == "note_add" && args.name.startsWith("draft")', then: allow}
    - {name: secrets, when: 'tool == "note_add" && args.name.contains("secret")', then: {deny: "Secrets are not noted."}}
    - {name: nights, when: 'caller.subject == "alice" && args.name == "final"', then: {ask: {by: ["group:ops"], not_requester: true, remind: 1s}}}
`
	proxyAuth = "auth: [{type: proxy, from: [127.0.0.1], header: X-Subject, groups_header: X-Groups}]\n"
)

// TestRecordRulesAndReminders records a reminder. A rule counts from the next reply of the model on, for conversations that were started before it,
// too, and who may decide is who the rule says.
func TestRecordRulesAndReminders(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.extra = proxyAuth
	api, p := h.inside()
	first := api.ask(`call note_add {"name":"draft 1"}`, alice)
	if !first.Result.WaitingApproval {
		t.Fatalf("without rules: %+v", first.Result)
	}
	api.decide(first.Result.Approval.UUID, `{"approved":true}`, alice)
	if err := p.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}

	h.extra = proxyAuth + carefulRules
	api, p = h.inside()
	say := func(text string) body {
		return api.want(200, "POST", "/conversations/"+first.Conversation.ID+"/messages", messageJSON(text), alice)
	}
	if got := say(`call note_add {"name":"draft 2"}`); got.Result.WaitingApproval || !strings.Contains(got.Result.Response, "added draft 2") {
		t.Errorf("allowed: %+v", got.Result)
	}
	if got := say(`call note_add {"name":"draft secret"}`); got.Result.WaitingApproval || !strings.Contains(got.Result.Response, "Secrets are not noted.") {
		t.Errorf("refused: %+v", got.Result)
	}
	asked := say(`call note_add {"name":"final"}`)
	if !asked.Result.WaitingApproval || !strings.Contains(asked.Result.Approval.Description, "Rule: nights") {
		t.Fatalf("asked: %+v", asked.Result)
	}
	uuid := asked.Result.Approval.UUID
	api.want(403, "POST", "/approvals/"+uuid, `{"approved":true}`, alice, ops)
	eventually(t, "a reminder is in the list and in the conversation", func() bool {
		list, conversation := api.do("GET", "/approvals", "", carol, ops).Raw, api.do("GET", "/conversations/"+first.Conversation.ID, "", alice).Raw
		return strings.Contains(list, `"reminded_at":["`) && strings.Contains(conversation, "Reminder 1 of 1: note_add still waits")
	})
	if got := api.do("POST", "/approvals/"+uuid, `{"approved":true}`, carol, ops); got.Status != 202 {
		t.Errorf("status %d: %s", got.Status, got.Raw)
	}
	eventually(t, "the approved call runs", func() bool { return len(h.tools.called("note_add")) == 3 })
	keep(t, p.Client, "reminded-approval", contract.ApprovalWorkflowID(uuid))
	keep(t, p.Client, "reminded", contract.ConversationWorkflowID(first.Conversation.ID))
	raw := api.do("GET", "/conversations/"+first.Conversation.ID+"?include=messages", "", alice).Raw
	for _, part := range []string{`"verdict":{"outcome":"allow","rule":"drafts"`, `"verdict":{"outcome":"deny","rule":"secrets"`, `"verdict":{"outcome":"ask","rule":"nights"`} {
		if !strings.Contains(raw, part) {
			t.Errorf("no %s in %s", part, raw)
		}
	}
}

// TestRecordRules records a conversation in which rules allow, refuse, ask two people, and ask again
// when nobody has decided.
func TestRecordRules(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.extra = proxyAuth + `approval:
  rules:
    - {name: drafts, when: 'tool == "note_add" && args.name == "draft"', then: allow}
    - {name: trials, when: 'tool == "note_add" && args.name == "trial"', then: dry_run}
    - {name: never, when: 'tool == "note_add" && args.name == "secret"', then: {deny: "No."}}
    - {name: both, when: 'tool == "note_add" && args.name == "final"', then: {ask: {by: ["group:ops"], not_requester: true, count: 2}}}
    - {name: soon, when: 'tool == "note_list"', then: {ask: {expires: 1s, on_expiry: keep}}}
`
	api, p := h.inside()
	id := api.ask(`call note_add {"name":"draft"}`, alice).Conversation.ID
	say := func(text string) result {
		return api.want(200, "POST", "/conversations/"+id+"/messages", messageJSON(text), alice).Result
	}
	say(`call note_add {"name":"trial"}`)
	say(`call note_add {"name":"secret"}`)
	first := say(`call note_add {"name":"final"}`).Approval.UUID
	second := h.nextApproval(api, id, first, func() { api.do("POST", "/approvals/"+first, `{"approved":true}`, carol, ops) })
	api.want(404, "POST", "/approvals/"+second, `{"approved":true}`, bob)
	if got := api.do("POST", "/approvals/"+second, `{"approved":true}`, carol, ops); got.Status != 403 && got.Status != 404 {
		t.Errorf("carol approves twice: %d %s", got.Status, got.Raw)
	}
	if got := api.do("POST", "/approvals/"+second, `{"approved":true}`, "X-Subject: dave", ops); got.Status != 202 {
		t.Errorf("status %d: %s", got.Status, got.Raw)
	}
	eventually(t, "the call that two people approved runs", func() bool { return len(h.tools.called("note_add")) == 2 })
	eventually(t, "the turn is over", func() bool {
		return api.want(200, "GET", "/conversations/"+id, "", alice).Conversation.Status == "active"
	})
	expired := say("call note_list").Approval.UUID
	again := h.nextApproval(api, id, expired, func() {})
	api.decide(again, `{"approved":true}`, alice)
	if n := len(h.tools.called("note_list")); n != 1 {
		t.Errorf("%d lists", n)
	}
	keep(t, p.Client, "rules", contract.ConversationWorkflowID(id))
}

// nextApproval waits until another approval of a conversation waits than the one that after ends.
func (h *home) nextApproval(api *api, id, last string, after func()) (uuid string) {
	h.t.Helper()
	after()
	eventually(h.t, "the next approval", func() bool {
		var list struct {
			Conversation struct {
				Pending *struct{ UUID string } `json:"pending_approval"`
			} `json:"conversation"`
		}
		if err := json.Unmarshal([]byte(api.do("GET", "/conversations/"+id, "", alice).Raw), &list); err != nil {
			h.t.Fatal(err)
		}
		if p := list.Conversation.Pending; p != nil && p.UUID != last {
			uuid = p.UUID
		}
		return uuid != ""
	})
	return uuid
}
