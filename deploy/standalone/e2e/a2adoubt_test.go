package e2e_test

import (
	"fmt"
	"slices"
	"testing"
)

// doubtful returns an approval at the front for an approved call of another agent, whose server
// has lost the result.
func doubtful(t *testing.T, extra func(far *home) string, message func(task string) string) (front *api, far *home, id string, p approval) {
	t.Helper()
	far = newHome(t)
	far.name = "far"
	far.inside()
	h := newHome(t)
	h.extra = extra(far)
	front, _ = h.inside()
	asked := front.ask(message(`call note_add {"name":"x"}`))
	far.tools.breakDown(true)
	again := front.decide(asked.Result.Approval.UUID, `{"approved":true}`)
	far.tools.breakDown(false)
	if !again.Result.WaitingApproval || !contains(again.Result.Approval.Description, "OUTCOME UNKNOWN: note_add") {
		t.Fatalf("nobody is asked what came of the call: %+v", again.Result)
	}
	return front, far, asked.Conversation.ID, *again.Result.Approval
}

var delegates = map[string]struct {
	extra   func(far *home) string
	message func(task string) string
}{
	"by a model": {
		func(far *home) string {
			return fmt.Sprintf("a2a:\n  - {name: far, url: 'http://127.0.0.1:%d/a2a'}\n", far.ports.api)
		},
		func(task string) string { return delegating("far", task) },
	},
	"by a node in a loop": {
		func(far *home) string {
			return fmt.Sprintf("agent:\n  type: loop\n  name: around\n  max_iterations: 1\n  agents:\n    - {name: asks, type: a2a, url: 'http://127.0.0.1:%d/a2a'}\n", far.ports.api)
		},
		func(task string) string { return task },
	},
}

// A user of the front answers that a call of another agent did run, and it is not repeated.
func TestACallOfAnotherAgentIsSaidToHaveRun(t *testing.T) {
	for name, d := range delegates {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			front, far, _, p := doubtful(t, d.extra, d.message)
			done := front.decide(p.UUID, `{"answer":"ran"}`)
			if done.Result.WaitingApproval || len(far.tools.called("note_add")) != 0 {
				t.Errorf("afterwards: %+v, %d calls", done.Result, len(far.tools.called("note_add")))
			}
		})
	}
}

// A conversation that waits for the outcome of another agent's call can be closed.
func TestAConversationInDoubtAboutAnotherAgentIsClosed(t *testing.T) {
	for name, d := range delegates {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			front, far, id, p := doubtful(t, d.extra, d.message)
			front.want(200, "POST", "/conversations/"+id+"/close", "")
			late := front.do("POST", "/approvals/"+p.UUID, `{"approved":true}`)
			same(t, "a late decision", late.Status, 409)
			o := operator{t, far.dial()}
			eventually(t, "nothing is left of it", func() bool {
				open, err := o.open(t.Context(), "TaskQueue = '"+far.queue+"' AND WorkflowType != 'Catalogue'")
				return err == nil && len(open) == 0
			})
			if n := len(far.tools.called("note_add")); n != 0 {
				t.Errorf("%d calls", n)
			}
			if texts := front.conversation(id).texts(); !slices.ContainsFunc(texts, func(s string) bool { return contains(s, "cancelled") }) {
				t.Errorf("it says %q", texts)
			}
		})
	}
}
