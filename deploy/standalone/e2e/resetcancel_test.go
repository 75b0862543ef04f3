package e2e_test

import (
	"fmt"
	"slices"
	"testing"

	"agent-stop-and-go/workflows/contract"
)

// Cancelling a turn also cancels a node that an operator has reset.
func TestACancelReachesNodesThatWereReset(t *testing.T) {
	for _, which := range []string{"turn", "node"} {
		for _, first := range []bool{true, false} {
			t.Run(fmt.Sprint(which, first), func(t *testing.T) {
				t.Parallel()
				h := newHome(t)
				h.extra = resetTree
				api, _ := h.inside()
				asked := api.ask("go")
				s := &stopped{api: api, operator: operator{t, h.dial()}, h: h, id: asked.Conversation.ID, tool: "tick"}
				eventually(t, "both are listed", func() bool { return len(s.awaited(s.id)) == 2 })
				s.reset(s.workflowOf(which), first)
				eventually(t, "two wait, and they alone", func() bool { return len(s.pendingUUIDs()) == 2 && len(s.awaited(s.id)) == 2 })
				api.want(200, "POST", "/conversations/"+s.id+"/cancel", "")
				eventually(t, "nothing of it runs but the conversation", func() bool { return len(running(t, s.Client, s.id)) == 1 })
			})
		}
	}
}

// An approval that stays pending over a reset ends with its turn.
func TestAResetConversationEndsTheApprovalThatItHasKept(t *testing.T) {
	for _, how := range []string{"cancel", "close", "by hand"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			api, _ := h.inside()
			asked := api.ask("call note_add")
			id, old := asked.Conversation.ID, asked.Result.Approval.UUID
			s := &stopped{api: api, operator: operator{t, h.dial()}, h: h, id: id, workflow: contract.ConversationWorkflowID(id)}
			s.reset(s.workflow, false)
			eventually(t, "it waits as before", func() bool { return slices.Equal(s.pendingUUIDs(), []string{old}) })
			left := 0
			switch how {
			case "by hand":
				s.cancel(s.workflow)
			case "close":
				api.want(200, "POST", "/conversations/"+id+"/close", "")
			default:
				api.want(200, "POST", "/conversations/"+id+"/cancel", "")
				left = 1
			}
			eventually(t, "nothing is left", func() bool { return len(running(t, s.Client, id)) == left })
			same(t, "a late decision", api.do("POST", "/approvals/"+old, `{"approved":true}`).Status, 409)
			same(t, "calls", len(h.tools.called("note_add")), 0)
		})
	}
}
