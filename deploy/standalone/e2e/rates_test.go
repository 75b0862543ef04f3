package e2e_test

import (
	"encoding/json"
	"strings"
	"testing"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/rates"
)

// Rate limits count over conversations and restarts, each caller for itself; they refuse, ask, or let
// a call wait, and whoever operates the agent changes them.
func TestRateLimitsHoldCalls(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.extra = `auth: [{type: proxy, from: [127.0.0.1], header: X-Subject, groups_header: X-Groups, grant: {ops: [operate]}}]
limits:
  rates:
    - {name: additions, tool: note_add, per: caller, calls: 1, in: 1h}
    - {name: lists, class: read_only, calls: 1, in: 2s, on_limit: pause}
`
	api, agent := h.outside()
	add := func(who, name string) result {
		asked := api.ask(`call note_add {"name":"`+name+`"}`, who).Result
		return api.decide(asked.Approval.UUID, `{"approved":true}`, who).Result
	}
	if got := add(alice, "first"); !strings.Contains(got.Response, "added first") {
		t.Fatalf("%+v", got)
	}
	agent.kill()
	api, _ = h.outside()
	if got := add(alice, "second"); !strings.Contains(got.Response, `did not run: the rate limit "additions" (1 call in 1h0m0s per caller) is reached until`) {
		t.Errorf("a call too many: %+v", got)
	}
	if got := add(bob, "third"); !strings.Contains(got.Response, "added third") {
		t.Errorf("of another caller: %+v", got)
	}
	api.want(403, "POST", "/control/limits", `{"limit":"additions","on_limit":"ask"}`, alice)
	api.want(200, "POST", "/control/limits", `{"limit":"additions","on_limit":"ask"}`, carol, ops)
	var asked result
	eventually(t, "the change is in force", func() bool {
		asked = add(alice, "fourth")
		return asked.WaitingApproval
	})
	if !strings.Contains(asked.Approval.Description, `Asked because the rate limit "additions"`) {
		t.Errorf("%+v", asked)
	}
	if got := api.decide(asked.Approval.UUID, `{"approved":true}`, alice).Result; !strings.Contains(got.Response, "added fourth") {
		t.Errorf("%+v", got)
	}
	list := func(who ...string) string { return api.do("GET", "/control/limits", "", who...).Raw }
	if mine := list(bob); strings.Count(mine, `"who"`) != 1 || !strings.Contains(mine, `"used":1`) {
		t.Errorf("bob sees %s", mine)
	}
	if all := list(carol, ops); strings.Count(all, `"who"`) != 2 || !strings.Contains(all, `"used":2`) || !strings.Contains(all, `"by":"carol"`) {
		t.Errorf("carol sees %s", all)
	}
	id := api.ask("call note_list", alice).Conversation.ID
	if got := api.want(200, "POST", "/conversations/"+id+"/messages", messageJSON("call note_list"), alice).Result; !strings.Contains(got.Response, "no notes") {
		t.Errorf("a call that waits: %+v", got)
	}
	if raw := api.do("GET", "/conversations/"+id+"?include=messages", "", alice).Raw; strings.Count(raw, `waits: the rate limit \"lists\"`) != 1 {
		t.Errorf("the record does not say once that it waits: %s", raw)
	}
	if n := len(h.tools.called("note_add")); n != 3 {
		t.Errorf("%d calls", n)
	}
}

// TestRecordRates records a conversation whose calls a rate limit holds in each way, and the workflow
// that counts them.
func TestRecordRates(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.extra = `limits:
  rates:
    - {tool: note_add, per: conversation, calls: 1, in: 1h, on_limit: ask}
    - {tool: note_list, per: conversation, calls: 1, in: 1s, on_limit: pause}
`
	api, p := h.inside()
	first := api.ask(`call note_list`)
	id := first.Conversation.ID
	say := func(text string) result {
		return api.want(200, "POST", "/conversations/"+id+"/messages", messageJSON(text)).Result
	}
	say(`call note_list`)
	api.decide(say(`call note_add {"name":"one"}`).Approval.UUID, `{"approved":true}`)
	asked := api.decide(say(`call note_add {"name":"two"}`).Approval.UUID, `{"approved":true}`).Result
	if got := api.decide(asked.Approval.UUID, `{"approved":true}`).Result; !strings.Contains(got.Response, "added two") {
		t.Fatalf("%+v", got)
	}
	keep(t, p.Client, "rates", contract.ConversationWorkflowID(id))
	keep(t, p.Client, "rates-counter", rates.WorkflowID("tester", "tool note_add per conversation", id))
	var reply struct {
		Limits []struct{ Name string }
	}
	if err := json.Unmarshal([]byte(api.do("GET", "/control/limits", "").Raw), &reply); err != nil || len(reply.Limits) != 2 || reply.Limits[0].Name != "tool note_add per conversation" {
		t.Errorf("%+v, %v", reply, err)
	}
}
