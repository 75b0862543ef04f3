package backend

import (
	"context"
	"fmt"
	"sync"

	"go.temporal.io/api/workflowservice/v1"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/rates"
)

// maxUses is how many counts of rate limits are read.
const maxUses = 200

// RateUses implements service.Control.
func (t *Temporal) RateUses(ctx context.Context) (uses []rates.View, more bool, err error) {
	page, err := t.client.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
		PageSize: maxUses,
		Query:    fmt.Sprintf("WorkflowType = %s AND ExecutionStatus = 'Running' AND %s = %s", quoted(rates.Workflow), contract.AttrAgentName, quoted(t.agentName)),
	})
	if err != nil {
		return nil, false, fault(err, "list the counts of rate limits")
	}
	found := make([]*rates.View, len(page.GetExecutions()))
	var wg sync.WaitGroup
	slots := make(chan struct{}, 8)
	for i, e := range page.GetExecutions() {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			var v rates.View
			if _, err := t.query(ctx, e.GetExecution().GetWorkflowId(), rates.QueryRate, &v, t.now()); err == nil { // else it has just ended, or no worker answers
				found[i] = &v
			}
		})
	}
	wg.Wait()
	for _, v := range found {
		if v != nil {
			uses = append(uses, *v)
		}
	}
	return uses, len(page.GetNextPageToken()) > 0 || len(uses) < len(found), nil
}
