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

// asking asks a worker with f. The worker of this process is asked a second time, for longer: signals of
// all who wait would only give a busy one more to do, and where a run is followed by another, or the server
// has forgotten it, an update has to be sent again. The server handles updates of one ID once.
func (t *Temporal) asking(ctx context.Context, f func(context.Context) error) error {
	err := within(ctx, admitTimeout, f)
	if isPassing(err) && t.board != nil && ctx.Err() == nil {
		err = within(ctx, busyTimeout, f)
	}
	return err
}

func within(ctx context.Context, limit time.Duration, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return f(ctx)
}

// Admit implements Conversations.
func (t *Temporal) Admit(ctx context.Context, id string, q contract.ConversationQuery) (contract.ConversationView, error) {
	var view contract.ConversationView
	var open bool
	err := t.asking(ctx, func(ctx context.Context) (err error) {
		open, err = t.query(ctx, contract.ConversationWorkflowID(id), contract.QueryConversation, &view, q)
		return err
	})
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
