package backend

import (
	"context"
	"time"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// admitTimeout limits how long a worker may take to answer for a signal. Without an answer,
// signals are accepted only while the history is short, because no worker reads it.
const (
	admitTimeout  = 2 * time.Second
	maxUnanswered = 2_000 // events of a run
	// maxUnansweredBytes limits the history of a run in bytes.
	maxUnansweredBytes = 2 << 20
)

// Admit implements Conversations.
func (t *Temporal) Admit(ctx context.Context, id string, q contract.ConversationQuery) (contract.ConversationView, error) {
	query, cancel := context.WithTimeout(ctx, admitTimeout)
	defer cancel()
	var view contract.ConversationView
	open, err := t.query(query, contract.ConversationWorkflowID(id), contract.QueryConversation, &view, q)
	switch {
	case isNotFound(err):
		return view, service.NoConversation(id)
	case service.IsKind(fault(err, ""), service.KindUnavailable) && ctx.Err() == nil:
		return t.admitUnread(ctx, id)
	case err != nil:
		return view, fault(err, "ask a conversation about a signal")
	case open:
		return view, nil
	}
	view.Status, view.Running, view.Queued, view.Pending, view.Pipeline = contract.StatusCompleted, false, 0, nil, nil
	if r := view.Request; r == nil || !r.Settled || r.Predicted {
		view.Request = &contract.Request{ID: q.RequestID, Settled: true, Predicted: true, Refused: contract.KindCompleted}
	}
	return view, nil
}

// admitUnread decides by the server's data about a signal to a conversation that no worker
// answers for.
func (t *Temporal) admitUnread(ctx context.Context, id string) (contract.ConversationView, error) {
	d, err := t.client.DescribeWorkflowExecution(ctx, contract.ConversationWorkflowID(id), "")
	switch {
	case isNotFound(err):
		return contract.ConversationView{}, service.NoConversation(id)
	case err != nil:
		return contract.ConversationView{}, fault(err, "describe the conversation")
	}
	info := d.GetWorkflowExecutionInfo()
	status := contract.Status(text(info.GetSearchAttributes().GetIndexedFields()[contract.AttrConversationStatus]))
	switch {
	case !isOpen(info.GetStatus()):
		return contract.ConversationView{}, service.Errorf(contract.KindCompleted, "conversation %s is completed", id)
	case status == contract.StatusWaitingApproval, info.GetHistoryLength() >= maxUnanswered,
		info.GetHistorySizeBytes() >= maxUnansweredBytes:
		return contract.ConversationView{}, service.Errorf(service.KindUnavailable, silentText)
	}
	return contract.ConversationView{}, nil
}
