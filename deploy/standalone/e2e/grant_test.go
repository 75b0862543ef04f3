package e2e_test

import (
	"strings"
	"testing"
)

// After a restart the server of the same name has another address. An approved call is not sent
// there without a new approval.
func TestAnApprovedCallDoesNotGoElsewhereAfterARestart(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, agent := h.outside()
	asked := api.ask(`call note_add {"name":"x"}`)
	agent.kill()
	before := h.tools
	h.tools = newTools(t)
	api, _ = h.outside()
	again := api.decide(asked.Result.Approval.UUID, `{"approved":true}`)
	if !again.Result.WaitingApproval || len(before.called("note_add"))+len(h.tools.called("note_add")) != 0 {
		t.Fatalf("the call was made, or nobody is asked: %+v", again.Result)
	}
	question := again.Result.Approval
	for _, part := range []string{"CHANGED SINCE IT WAS APPROVED", before.URL, h.tools.URL} {
		if !strings.Contains(question.Description, part) {
			t.Errorf("the approval does not say %q:\n%s", part, question.Description)
		}
	}
	done := api.decide(question.UUID, `{"approved":true}`)
	if done.Result.Response != "The tool said: added x" || len(before.called("note_add")) != 0 || len(h.tools.called("note_add")) != 1 {
		t.Errorf("after the second approval: %+v", done.Result)
	}
}
