package e2e_test

import (
	"net/http"
	"testing"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deletion"
	"agent-stop-and-go/workflows/contract/switches"
)

// Two approved calls are paused. One goes on after the resume, one is rejected.
func TestRecordAPausedCall(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, p := h.whole()
	api.want(200, "POST", "/control/pause", `{"what":"tool:note_add","reason":"the disk is replaced","by":"ops"}`)
	held := func(name string) (conversation, uuid string) {
		asked := api.ask(`call note_add {"name":"` + name + `"}`)
		paused := api.decide(asked.Result.Approval.UUID, `{"approved":true}`)
		if !paused.Result.WaitingApproval {
			t.Fatalf("the call is not paused: %+v", paused.Result)
		}
		return asked.Conversation.ID, paused.Result.Approval.UUID
	}
	goesOn, released := held("x")
	ends, rejected := held("y")
	api.decide(rejected, `{"approved":false}`)
	api.want(200, "POST", "/control/resume", `{"what":"tool:note_add","by":"ops"}`)
	eventually(t, "the call has run", func() bool {
		m := api.conversation(goesOn).Messages
		return contains(m[len(m)-1].Content, "added x")
	})
	keep(t, p.Client, "control", switches.WorkflowID)
	keep(t, p.Client, "paused", contract.ConversationWorkflowID(goesOn))
	keep(t, p.Client, "paused-approval", contract.ApprovalWorkflowID(released))
	keep(t, p.Client, "paused-rejected", contract.ConversationWorkflowID(ends))
}

func TestRecordAnApprovalThatIsPutOff(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.extra = "auth: [{type: proxy, from: [127.0.0.1], header: X-Subject, groups_header: X-Groups}]\n"
	api, p := h.inside()
	uuid := api.ask(`call note_add {"name":"x"}`, alice).Result.Approval.UUID
	for _, until := range []string{"2h", "0s", "3h"} {
		api.want(200, "POST", "/approvals/"+uuid+"/later", `{"for":"`+until+`"}`, alice)
	}
	api.decide(uuid, `{"approved":true}`, alice)
	keep(t, p.Client, "later", contract.ApprovalWorkflowID(uuid))
}

func TestRecordADeletion(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.extra = "conversations: {delete_after: 90d}\n"
	api, p := h.inside()
	id := api.ask(`call note_add {"name":"x"}`).Conversation.ID
	api.delete(http.StatusOK, id, "?force=true")
	keep(t, p.Client, "deletion", deletion.WorkflowID(id))
	h.upkeep(deletion.UpkeepInput{Collect: true})
	keep(t, p.Client, "upkeep", deletion.UpkeepWorkflowID(h.queue)+"-collection")
}
