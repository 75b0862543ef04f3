package backend

import (
	"context"
	"strings"
	"time"

	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// whereTasks selects tasks. ContextID comes from a client and must be quoted.
func whereTasks(q service.TaskQuery) string {
	query := allConversations + " AND " + contract.AttrTaskState + " IS NOT NULL"
	if q.ContextID != "" {
		query += " AND " + contract.AttrContextID + " = " + quoted(q.ContextID)
	}
	if q.State != "" {
		query += " AND " + contract.AttrTaskState + " = " + quoted(string(q.State))
	}
	if q.After != nil {
		query += " AND (ExecutionStatus = 'Running' OR CloseTime >= " + quoted(q.After.UTC().Format(time.RFC3339Nano)) + ")"
	}
	return query + of(q.Whose)
}

func quoted(s string) string { return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'" }

// Tasks implements Conversations.
func (t *Temporal) Tasks(ctx context.Context, q service.TaskQuery) (service.TaskPage, error) {
	executions, next, err := t.page(ctx, whereTasks(q), service.ListQuery{Limit: q.Limit, Token: q.Token})
	if err != nil {
		return service.TaskPage{}, err
	}
	page := service.TaskPage{IDs: idsOf(executions), Next: next}
	count, err := t.client.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{
		Namespace: t.namespace, Query: t.ours(whereTasks(q)),
	})
	page.Total = count.GetCount()
	return page, fault(err, "count tasks")
}

// RunningIn implements Conversations.
func (t *Temporal) RunningIn(ctx context.Context, contextID string, whose service.Whose, limit int) ([]string, error) {
	query := whereTasks(service.TaskQuery{ContextID: contextID, Whose: whose}) + " AND ExecutionStatus = 'Running'"
	executions, _, err := t.page(ctx, query, service.ListQuery{Limit: limit})
	return idsOf(executions), err
}

func idsOf(executions []*workflowpb.WorkflowExecutionInfo) []string {
	var ids []string
	for _, e := range executions {
		if id, ok := contract.ConversationIDOf(e.GetExecution().GetWorkflowId()); ok {
			ids = append(ids, id)
		}
	}
	return ids
}
