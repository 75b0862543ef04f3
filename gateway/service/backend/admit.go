package backend

import (
	"context"
	"time"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// Without an answer of a worker, signals are accepted only while the history is short, because no
// worker reads it.
const (
	// admitTimeout limits how long a worker may take to answer.
	admitTimeout = 2 * time.Second
	// busyTimeout is how much longer than another the worker of this process may take: it is there.
	busyTimeout   = 5 * time.Second
	maxUnanswered = 2_000 // events of a run
	// maxUnansweredBytes limits the history of a run in bytes.
	maxUnansweredBytes = 2 << 20
)

// untilAnswered limits a context to the time in which a worker must answer. Where a run is followed by
// another, the server also has an update sent again, a second later or two.
func (t *Temporal) untilAnswered(ctx context.Context) (context.Context, context.CancelFunc) {
	if t.board != nil {
		return context.WithTimeout(ctx, admitTimeout+busyTimeout)
	}
	return context.WithTimeout(ctx, admitTimeout)
}

// Admit implements Conversations.
func (t *Temporal) Admit(ctx context.Context, id string, q contract.ConversationQuery) (contract.ConversationView, error) {
	query, cancel := t.untilAnswered(ctx)
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
