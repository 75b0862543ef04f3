package e2e_test

import (
	"fmt"
	"strings"
	"testing"
)

// Calls that were approved wait for a switch, through a crash, and each runs once after it is
// removed.
func TestFiftyPausedCallsSurviveKillMinusNineAndRunOnce(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, agent := h.outside()
	api.want(200, "POST", "/control/pause", `{"what":"tool:note_add","reason":"the disk is replaced","by":"ops"}`)
	type paused struct{ conversation, uuid string }
	var all []paused
	for i := range 50 {
		asked := api.ask(fmt.Sprintf(`call note_add {"name":"item-%d"}`, i))
		held := api.decide(asked.Result.Approval.UUID, `{"approved":true}`)
		if !held.Result.WaitingApproval || !strings.Contains(held.Result.Approval.Description, "PAUSED") || !strings.Contains(held.Result.Approval.Description, "by ops since") {
			t.Fatalf("the call does not wait: %+v", held.Result)
		}
		all = append(all, paused{asked.Conversation.ID, held.Result.Approval.UUID})
	}
	agent.kill()
	api, _ = h.outside()
	if list := api.do("GET", "/control/switches", ""); !strings.Contains(string(list.Raw), "the disk is replaced") {
		t.Fatalf("switches after the restart: %s", list.Raw)
	}
	if yes := api.want(400, "POST", "/approvals/"+all[0].uuid, `{"approved":true}`); !strings.Contains(yes.Error, "paused") {
		t.Errorf("a yes: %+v", yes)
	}
	if done := api.decide(all[0].uuid, `{"approved":false}`); done.Result.WaitingApproval {
		t.Errorf("a no: %+v", done.Result)
	}
	if calls := h.tools.called("note_add"); len(calls) > 0 {
		t.Fatalf("%d calls while paused", len(calls))
	}
	// A worker that was killed a moment ago may take longer to answer than the gateway waits: then
	// the resume is recorded (202), and in force soon.
	if r := api.do("POST", "/control/resume", `{"what":"tool:note_add","by":"ops"}`); r.Status != 200 && r.Status != 202 {
		t.Fatalf("resume: status %d: %s", r.Status, r.Raw)
	}
	for i, w := range all[1:] { // an approval ends before its call runs
		answer := fmt.Sprintf("added item-%d", i+1)
		eventually(t, answer, func() bool {
			m := api.conversation(w.conversation).Messages
			return contains(m[len(m)-1].Content, answer)
		})
	}
	names := map[any]int{}
	for _, c := range h.tools.called("note_add") {
		names[c.Args["name"]]++
	}
	if len(names) != 49 || names["item-0"] > 0 {
		t.Errorf("%d different calls, expected the 49 that nobody has rejected", len(names))
	}
	for name, n := range names {
		if n != 1 {
			t.Errorf("%v was added %d times", name, n)
		}
	}
}
