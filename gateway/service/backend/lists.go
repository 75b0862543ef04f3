package backend

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"
	"golang.org/x/sync/errgroup"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// Visibility queries. SQLite rejects ORDER BY; the default order is running workflows, newest
// first, then ended ones, latest first.
const (
	allConversations = "WorkflowType = '" + contract.WorkflowConversation + "' AND ExecutionStatus != 'ContinuedAsNew'"
	allWaiting       = "WorkflowType = '" + contract.WorkflowApproval + "' AND ExecutionStatus = 'Running'"
)

// ours limits a query to the task queue of this gateway's workers, because agents may share a
// namespace.
func (t *Temporal) ours(query string) string {
	return query + " AND TaskQueue = " + quoted(t.taskQueue)
}

// where selects conversations by status. A conversation whose workflow has ended is
// completed, whatever its last status was.
func where(s contract.Status) string {
	switch s {
	case "":
		return allConversations
	case contract.StatusCompleted:
		return allConversations + " AND ExecutionStatus != 'Running'"
	}
	return allConversations + " AND ExecutionStatus = 'Running' AND " + contract.AttrConversationStatus + " = '" + string(s) + "'"
}

// of limits a query to what belongs to one identity or to its groups.
func of(w service.Whose) string {
	own := contract.AttrAgentOwner + " = " + quoted(w.Owner)
	switch {
	case w.Owner == "":
		return ""
	case len(w.Groups) == 0:
		return " AND " + own
	}
	return " AND (" + own + " OR " + contract.AttrAgentGroups + " IN " + listed(w.Groups) + ")"
}

// listed returns texts as a list of a query.
func listed(texts []string) string {
	out := make([]string, len(texts))
	for i, s := range texts {
		out[i] = quoted(s)
	}
	return "(" + strings.Join(out, ", ") + ")"
}

// ownerOf returns the owner in search attributes.
func ownerOf(attributes map[string]*commonpb.Payload) service.Owner {
	owner := service.Owner{Key: text(attributes[contract.AttrAgentOwner])}
	if groups := attributes[contract.AttrAgentGroups]; groups != nil {
		_ = converter.GetDefaultDataConverter().FromPayload(groups, &owner.Groups) // otherwise they see nothing
	}
	return owner
}

// beginning limits a query to conversations whose IDs begin in a way.
func beginning(prefix string) string {
	if prefix == "" {
		return ""
	}
	return " AND WorkflowId STARTS_WITH " + quoted(contract.ConversationWorkflowID(prefix))
}

// List implements Conversations.
func (t *Temporal) List(ctx context.Context, q service.ListQuery) (service.Page[service.Item], error) {
	executions, next, err := t.page(ctx, where(q.Status)+of(q.Whose)+beginning(q.Prefix), q)
	if err != nil {
		return service.Page[service.Item]{}, err
	}
	page := service.Page[service.Item]{Next: next}
	for _, e := range executions {
		if item, ok := itemOf(e); ok {
			page.Items = append(page.Items, item)
		}
	}
	slices.SortStableFunc(page.Items, func(a, b service.Item) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return page, nil
}

func itemOf(e *workflowpb.WorkflowExecutionInfo) (service.Item, bool) {
	id, ok := contract.ConversationIDOf(e.GetExecution().GetWorkflowId())
	attributes, memo := e.GetSearchAttributes().GetIndexedFields(), e.GetMemo().GetFields()
	item := service.Item{
		ID: id, SessionID: text(attributes[contract.AttrSessionID]), AgentName: text(attributes[contract.AttrAgentName]),
		Title:     text(memo[contract.MemoTitle]),
		Status:    cmp.Or(contract.Status(text(attributes[contract.AttrConversationStatus])), contract.StatusActive),
		CreatedAt: when(memo[contract.MemoCreatedAt]),
	}
	if item.CreatedAt.IsZero() {
		item.CreatedAt = startOf(e)
	}
	item.UpdatedAt = latest(item.CreatedAt, startOf(e), when(memo[contract.MemoUpdatedAt]))
	if !isOpen(e.GetStatus()) {
		item.Status = contract.StatusCompleted
		item.UpdatedAt = latest(item.UpdatedAt, e.GetCloseTime().AsTime())
	}
	return item, ok
}

func latest(times ...time.Time) time.Time { return slices.MaxFunc(times, time.Time.Compare) }

func startOf(e *workflowpb.WorkflowExecutionInfo) time.Time { return e.GetStartTime().AsTime() }

// Waiting implements Approvals.
func (t *Temporal) Waiting(ctx context.Context, q service.ListQuery) (service.Page[service.WaitingItem], error) {
	executions, next, err := t.page(ctx, allWaiting+of(q.Whose), q)
	if err != nil {
		return service.Page[service.WaitingItem]{}, err
	}
	page := service.Page[service.WaitingItem]{Next: next}
	for _, e := range executions {
		page.Items = append(page.Items, waitingItemOf(e))
	}
	return page, nil
}

func waitingItemOf(e *workflowpb.WorkflowExecutionInfo) service.WaitingItem {
	attributes := e.GetSearchAttributes().GetIndexedFields()
	uuid := strings.TrimPrefix(e.GetExecution().GetWorkflowId(), contract.ApprovalWorkflowID(""))
	item := service.WaitingItem{
		UUID: uuid, Card: cardOf(e.GetMemo()),
		ConversationID: text(attributes[contract.AttrConversationID]),
		SessionID:      text(attributes[contract.AttrSessionID]),
		AgentName:      text(attributes[contract.AttrAgentName]),
		ToolName:       text(attributes[contract.AttrToolName]),
		Owner:          ownerOf(attributes),
		Approvers:      approversOf(e.GetMemo()),
		Deferrals:      deferralsOf(e.GetMemo()),
		Reminded:       remindedOf(e.GetMemo()),
		Judgements:     judgementsOf(e.GetMemo()),
		CreatedAt:      when(attributes[contract.AttrPendingSince]),
	}
	if item.CreatedAt.IsZero() {
		item.CreatedAt = startOf(e)
	}
	return item
}

// unreadable is a rule that nobody satisfies.
const unreadable = "unreadable"

// approversOf returns the rules in a memo, if there are any. Rules that cannot be read, such as
// those of another encryption key, allow nobody: without rules the default ones would count.
func approversOf(memo *commonpb.Memo) []string {
	var rules []string
	payload := memo.GetFields()[contract.MemoApprovers]
	switch {
	case payload == nil:
		return nil
	case converter.GetDefaultDataConverter().FromPayload(payload, &rules) != nil:
		return []string{unreadable}
	}
	return rules
}

// cardOf returns the card in a memo, or an empty one.
func cardOf(memo *commonpb.Memo) contract.Card {
	var c contract.Card
	payload := memo.GetFields()[contract.MemoCard]
	if payload == nil || converter.GetDefaultDataConverter().FromPayload(payload, &c) != nil {
		return contract.Card{}
	}
	return c
}

func (t *Temporal) page(ctx context.Context, query string, q service.ListQuery) ([]*workflowpb.WorkflowExecutionInfo, []byte, error) {
	r, err := t.client.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
		Namespace: t.namespace, PageSize: int32(q.Limit), NextPageToken: q.Token, Query: t.ours(query), //nolint:gosec // at most maxLimit
	})
	if isType[*serviceerror.InvalidArgument](err) && len(q.Token) > 0 {
		return nil, nil, service.BadCursor().Because(err)
	}
	return r.GetExecutions(), r.GetNextPageToken(), fault(err, "list workflows")
}

// CountOpen counts the open conversations of an owner, by its key, except those with these IDs.
func (t *Temporal) CountOpen(ctx context.Context, owner string, except []string) (int64, error) {
	query := where("") + " AND ExecutionStatus = 'Running'" + of(service.Whose{Owner: owner})
	if len(except) > 0 {
		query += " AND " + contract.AttrConversationID + " NOT IN " + listed(except)
	}
	r, err := t.client.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Namespace: t.namespace, Query: t.ours(query)})
	return r.GetCount(), fault(err, "count open conversations")
}

// Summary implements Conversations.
func (t *Temporal) Summary(ctx context.Context, whose service.Whose) (service.Summary, error) {
	var s service.Summary
	counts, ctx := errgroup.WithContext(ctx)
	for status, into := range map[contract.Status]*int64{
		"": &s.Total, contract.StatusWaitingApproval: &s.WaitingApproval, contract.StatusCompleted: &s.Completed,
	} {
		counts.Go(func() error {
			r, err := t.client.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{
				Namespace: t.namespace, Query: t.ours(where(status) + of(whose)),
			})
			*into = r.GetCount()
			return fault(err, "count conversations")
		})
	}
	err := counts.Wait()
	// The counts are from different moments.
	s.Active = max(s.Total-s.WaitingApproval-s.Completed, 0)
	return s, err
}
