package e2e_test

import (
	"strings"
	"testing"
)

const (
	carefulRules = `approval:
  rules:
    - {name: drafts, when: 'tool == "note_add" && args.name.startsWith("draft")', then: allow}
    - {name: secrets, when: 'tool == "note_add" && args.name.contains("secret")', then: {deny: "Secrets are not noted."}}
    - {name: nights, when: 'caller.subject == "alice" && args.name == "final"', then: {ask: {by: ["group:ops"], not_requester: true}}}
`
	proxyAuth = "auth: [{type: proxy, from: [127.0.0.1], header: X-Subject, groups_header: X-Groups}]\n"
)

// A rule counts from the next reply of the model on, for conversations that were started before it,
// too, and who may decide is who the rule says.
func TestRulesDecideAboutCalls(t *testing.T) {
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
	api, _ = h.inside()
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
	if got := api.do("POST", "/approvals/"+uuid, `{"approved":true}`, carol, ops); got.Status != 202 {
		t.Errorf("status %d: %s", got.Status, got.Raw)
	}
	eventually(t, "the approved call runs", func() bool { return len(h.tools.called("note_add")) == 3 })
	raw := api.do("GET", "/conversations/"+first.Conversation.ID+"?include=messages", "", alice).Raw
	for _, part := range []string{`"verdict":{"outcome":"allow","rule":"drafts"`, `"verdict":{"outcome":"deny","rule":"secrets"`, `"verdict":{"outcome":"ask","rule":"nights"`} {
		if !strings.Contains(raw, part) {
			t.Errorf("no %s in %s", part, raw)
		}
	}
}
