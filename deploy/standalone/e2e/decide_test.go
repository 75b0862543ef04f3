package e2e_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"go.temporal.io/sdk/client"

	"agent-stop-and-go/workflows/contract"
)

// updateDecision decides an approval with an update.
func updateDecision(c client.Client, uuid string, in any) error {
	ctx := context.Background()
	handle, err := c.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: contract.ApprovalWorkflowID(uuid), UpdateName: contract.UpdateDecide, Args: []any{in},
		WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err != nil {
		return err
	}
	return handle.Get(ctx, nil)
}

func TestUpdatesThatDecideNothingLeaveNoHistory(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, p := h.inside()
	uuid := api.ask(`call note_add {"name":"x"}`).Result.Approval.UUID
	workflow := contract.ApprovalWorkflowID(uuid)
	before := restingTrace(t, p.Client, workflow)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range *floodSize {
				if err := updateDecision(p.Client, uuid, "perhaps"); err == nil || !strings.Contains(err.Error(), "neither a yes nor a no") {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if after := restingTrace(t, p.Client, workflow); after != before {
		t.Errorf("the history grew: %+v, then %+v", before, after)
	}
	if got := api.decide(uuid, `{"approved":true}`); !strings.Contains(got.Result.Response, "added x") {
		t.Errorf("answer %+v", got.Result)
	}
}

func TestOneOfManyDecisionsCounts(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, p := h.inside()
	uuid := api.ask(`call note_add {"name":"x"}`).Result.Approval.UUID
	const each = 20
	replies := make([]reply, 2*each)
	var all sync.WaitGroup
	for i := range replies {
		all.Go(func() {
			replies[i] = api.do("POST", "/approvals/"+uuid, fmt.Sprintf(`{"approved":%t,"by":"p%d"}`, i%2 == 0, i), fmt.Sprint("Idempotency-Key: k", i))
		})
	}
	all.Wait()
	decided := -1
	for i, r := range replies {
		switch {
		case r.Status == 200 && decided < 0:
			decided = i
		case r.Status != 409:
			t.Errorf("status %d: %s", r.Status, r.Raw)
		}
	}
	if decided < 0 {
		t.Fatal("no decision counted")
	}
	for i, r := range replies {
		if i != decided && !strings.Contains(r.Raw, fmt.Sprintf("by p%d", decided)) {
			t.Errorf("the conflict does not say who decided: %s", r.Raw)
		}
	}
	if n := len(h.tools.called("note_add")); n != (decided+1)%2 {
		t.Errorf("the tool ran %d times after decision %d", n, decided)
	}
	if n := len(historyOf(t, p.Client, contract.ApprovalWorkflowID(uuid), "").Events); n > 20 {
		t.Errorf("%d events", n)
	}
	again := api.do("POST", "/approvals/"+uuid, fmt.Sprintf(`{"approved":%t,"by":"p%d"}`, decided%2 == 0, decided), fmt.Sprint("Idempotency-Key: k", decided))
	if again.Status != 200 || again.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("status %d, %v: %s", again.Status, again.Header, again.Raw)
	}
}
