package e2e_test

import (
	"fmt"
	"strings"
	"testing"
)

// earlierTasks begins what a model reads in front of a message that continues tasks.
const earlierTasks = "[context] This was said in earlier tasks"

// TestADelegationContinuesTheEarlierOneAfterBothAgentsDied has two agents that die between two turns.
// The second task waits for an approval; before the third the other agent has deleted everything.
func TestADelegationContinuesTheEarlierOneAfterBothAgentsDied(t *testing.T) {
	t.Parallel()
	front, far := newHome(t), newHome(t)
	front.name, far.name = "front", "far"
	front.extra = fmt.Sprintf("a2a:\n  - {name: far, url: 'http://127.0.0.1:%d/a2a', context: conversation}\n", far.ports.api)
	_, farProcess := far.outside()
	api, process := front.outside()
	id := api.ask(delegating("far", "say A draft about apples")).Conversation.ID
	process.kill()
	farProcess.kill()
	farAPI, _ := far.outside()
	api, _ = front.outside()

	asked := api.say(id, delegating("far", `call note_add {"name":"deep"}`))
	if asked.Result.Approval == nil {
		t.Fatalf("nothing waits: %+v", asked.Result)
	}
	if done := api.decide(asked.Result.Approval.UUID, `{"approved":true}`); !strings.Contains(done.Result.Response, "added deep") {
		t.Errorf("the answer is %q", done.Result.Response)
	}
	if text := far.lastRequest(); !strings.Contains(text, earlierTasks) || !strings.Contains(text, "A draft about apples") {
		t.Errorf("the other agent's model was asked: %s", text)
	}

	var list struct {
		Conversations []struct{ ID string }
	}
	farAPI.read("/conversations", &list)
	if len(list.Conversations) != 2 {
		t.Fatalf("the other agent has %+v", list)
	}
	for _, c := range list.Conversations {
		farAPI.delete(200, c.ID, "")
	}
	if done := api.say(id, delegating("far", "say Begun anew")); !strings.Contains(done.Result.Response, "Begun anew") {
		t.Errorf("the answer is %q", done.Result.Response)
	}
	if raw := api.do("GET", "/conversations/"+id, "").Raw; !strings.Contains(raw, "no longer knows the earlier task") {
		t.Errorf("the record does not say so: %s", raw)
	}
}
