package e2e_test

import (
	"encoding/json"
	"slices"
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

// Rules that change while calls wait count for them: one is refused, about another one others are asked, and one
// that they would let run waits until an operator releases it. The agent is killed with kill -9 in between.
func TestRulesThatChangeCountForWhatWaits(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	base := "auth: [{type: proxy, from: [127.0.0.1], header: X-Subject, groups_header: X-Groups, grant: {chiefs: [operate]}}]\napproval:\n  rules:\n"
	h.extra = base + `    - {name: notes, when: 'tool == "note_add"', then: ask}` + "\n"
	api, agent := h.outside()
	refused, asked, freed := api.ask(`call note_add {"name":"one"}`, alice), api.ask(`call note_add {"name":"two"}`, alice), api.ask(`call note_add {"name":"three"}`, alice)
	agent.kill()
	h.extra = base + `    - {name: notes, when: 'tool == "note_add" && args.name != "three"', then: ask}
    - {name: never, when: 'tool == "note_add" && args.name == "one"', then: {deny: "No more notes."}}
    - {name: ops, when: 'tool == "note_add" && args.name == "two"', then: {ask: {by: ["group:ops"], not_requester: true}}}
    - {name: free, when: 'tool == "note_add" && args.name == "three"', then: allow}
`
	api, _ = h.outside()
	shows := func(uuid string, texts ...string) {
		t.Helper()
		eventually(t, "approval "+uuid, func() bool {
			raw := api.do("GET", "/approvals/"+uuid, "", alice).Raw
			return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(raw, text) })
		})
	}
	one, two, three := refused.Result.Approval.UUID, asked.Result.Approval.UUID, freed.Result.Approval.UUID
	shows(one, `"status":"rejected"`, `"via":"policy"`, "the rule never refuses the call now. No more notes.", `"effect":"refused"`)
	shows(two, `"status":"pending"`, `"effect":"tightened"`, `"group:ops"`)
	shows(three, `"status":"pending"`, `"effect":"none"`, `"would":{"run":true}`)
	id := asked.Conversation.ID
	next := h.nextApproval(api, id, two, func() { api.want(200, "POST", "/approvals/"+two, `{"approved":true}`, alice) })
	if got := api.do("POST", "/approvals/"+next, `{"approved":true}`, carol, ops); got.Status != 202 {
		t.Errorf("status %d: %s", got.Status, got.Raw)
	}
	eventually(t, "the call runs", func() bool { return len(h.tools.called("note_add")) == 1 })
	eventually(t, "the turn is over", func() bool {
		return api.want(200, "GET", "/conversations/"+id, "", alice).Conversation.Status == "active"
	})

	const chief = "X-Groups: chiefs"
	releases := func(method, body string) string {
		t.Helper()
		got := api.do(method, "/control/releases", body, carol, chief)
		if got.Status != 200 {
			t.Errorf("status %d: %s", got.Status, got.Raw)
		}
		return got.Raw
	}
	api.want(403, "POST", "/control/releases", `{"all":true}`, alice)
	eventually(t, "it is listed", func() bool {
		return strings.Contains(releases("GET", ""), three)
	})
	if raw := releases("POST", `{"all":true,"dry_run":true}`); strings.Contains(raw, "released") || !strings.Contains(raw, three) {
		t.Error(raw)
	}
	if got := h.tools.called("note_add"); len(got) != 1 {
		t.Errorf("it ran before its release: %v", got)
	}
	if raw := releases("POST", `{"approvals":["`+three+`"],"reason":"tested"}`); !strings.Contains(raw, `"released":true`) {
		t.Error(raw)
	}
	eventually(t, "the released call runs", func() bool { return len(h.tools.called("note_add")) == 2 })
	shows(three, `"status":"approved"`, `"via":"policy"`, `"by":"carol"`, "released by policy version ", `"released":true`)
	api.want(404, "POST", "/control/releases", `{"approvals":["`+three+`"]}`, carol, chief)
	eventually(t, "the turn is over", func() bool {
		return api.want(200, "GET", "/conversations/"+freed.Conversation.ID, "", alice).Conversation.Status == "active"
	})
	c := h.dial()
	keep(t, c, "judged", contract.ConversationWorkflowID(id))
	keep(t, c, "judged-approval", contract.ApprovalWorkflowID(two))
	keep(t, c, "judged-refused", contract.ApprovalWorkflowID(one))
	keep(t, c, "released", contract.ConversationWorkflowID(freed.Conversation.ID))
	keep(t, c, "released-approval", contract.ApprovalWorkflowID(three))
}
