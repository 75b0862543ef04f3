package e2e_test

import (
	"strings"
	"sync"
	"testing"

	"agent-stop-and-go/workflows/contract"
)

// TestAnApprovalThatIsPutOff puts it off so often that its history continues in another run.
func TestAnApprovalThatIsPutOff(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.extra = `auth: [{type: proxy, from: [127.0.0.1], header: X-Subject, groups_header: X-Groups}]
approval: {approvers: [requester, "group:ops"]}
`
	api, p := h.inside()
	asked := api.ask(`call note_add {"name":"x"}`, alice)
	path := "/approvals/" + asked.Result.Approval.UUID
	deferred := func(caller ...string) bool {
		return strings.Contains(api.do("GET", "/approvals", "", caller...).Raw, `"deferred_until"`)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 60 {
				api.want(200, "POST", path+"/later", `{"for":"2h"}`, alice)
			}
		})
	}
	all.Wait()
	workflow := contract.ApprovalWorkflowID(asked.Result.Approval.UUID)
	eventually(t, "another run", func() bool { return checkAllRuns(t, p.Client, workflow) > 1 })
	eventually(t, "alice's list says so", func() bool { return deferred(alice) })
	if deferred(bob, ops) {
		t.Error("it is put off for bob, who did not do it")
	}
	if !strings.Contains(api.do("GET", path, "", alice).Raw, `"deferred_until"`) {
		t.Error("the approval has forgotten it")
	}
	api.want(200, "POST", path+"/later", `{"for":"0s"}`, alice)
	eventually(t, "it is back", func() bool { return !deferred(alice) })
	if got := api.decide(asked.Result.Approval.UUID, `{"approved":true}`, alice); !strings.Contains(got.Result.Response, "added x") {
		t.Errorf("answer %+v", got.Result)
	}
	api.want(409, "POST", path+"/later", `{"for":"2h"}`, alice)
}
