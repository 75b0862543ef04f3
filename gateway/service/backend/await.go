package backend

import (
	"context"
	"errors"
	"fmt"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/service/backend/snapshot"
	"agent-stop-and-go/workflows/contract"
)

// Conversation implements Conversations.
func (t *Temporal) Conversation(ctx context.Context, id, requestID string) (contract.ConversationView, error) {
	if requestID == "" {
		return t.views.Read(ctx, contract.ConversationWorkflowID(id), present{t, id})
	}
	view, _, err := t.view(ctx, id, requestID)
	return view, err
}

// present is the snapshot.Source of a conversation.
type present struct {
	*Temporal
	id string
}

// Mark implements snapshot.Source.
func (p present) Mark(ctx context.Context) (snapshot.Mark, error) {
	d, err := p.client.DescribeWorkflowExecution(ctx, contract.ConversationWorkflowID(p.id), "")
	if err != nil || d.GetPendingWorkflowTask() != nil {
		return snapshot.Mark{}, err
	}
	info := d.GetWorkflowExecutionInfo()
	return snapshot.Mark{Run: info.GetExecution().GetRunId(), Events: info.GetHistoryLength(), Status: int32(info.GetStatus())}, nil
}

// View implements snapshot.Source.
func (p present) View(ctx context.Context) (contract.ConversationView, error) {
	view, _, err := p.view(ctx, p.id, "")
	return view, err
}

func (t *Temporal) view(ctx context.Context, id, requestID string) (view contract.ConversationView, open bool, err error) {
	open, err = t.query(ctx, contract.ConversationWorkflowID(id), contract.QueryConversation, &view,
		contract.ConversationQuery{RequestID: requestID})
	if isNotFound(err) {
		return view, false, service.NoConversation(id)
	}
	if err != nil {
		return view, false, fault(err, "query a conversation")
	}
	if !open { // also if it was terminated, and its last state says otherwise
		view.Status, view.Running, view.Queued = contract.StatusCompleted, false, 0
		view.Pending, view.Pipeline = nil, nil
	}
	return view, open, nil
}

// posted waits for the outcome of one of the requests on the board. Whoever reads the conversation then
// gets its view from there.
func (t *Temporal) posted(ctx context.Context, id string, requestIDs []string) (contract.AwaitResult, bool) {
	result, view, ok := t.board.Await(ctx, id, requestIDs)
	if ok && view != nil {
		t.views.Keep(contract.ConversationWorkflowID(id), result.Conversation, view.Changes, view.Bytes)
	}
	return result, ok
}

// Await implements Conversations. The update only waits, so nothing is lost if it is.
func (t *Temporal) Await(ctx context.Context, id string, requestIDs []string) (contract.AwaitResult, error) {
	if result, ok := t.posted(ctx, id, requestIDs); ok {
		return result, nil
	}
	var result contract.AwaitResult
	handle, err := t.client.UpdateWorkflow(ctx, awaitOptions(id, requestIDs))
	if err == nil {
		err = handle.Get(ctx, &result)
	}
	switch {
	case err == nil:
		return result, nil
	case isNotFound(err), isEnded(err):
		return t.awaitEnded(ctx, id, requestIDs)
	case isSpent(err):
		return t.readAnswers(ctx, id, requestIDs)
	case isPassing(err):
		return result, fmt.Errorf("%w: %w", service.ErrAgain, err)
	}
	return result, fault(err, "await an answer")
}

func awaitOptions(id string, requestIDs []string) client.UpdateWorkflowOptions {
	return client.UpdateWorkflowOptions{
		WorkflowID: contract.ConversationWorkflowID(id), UpdateName: contract.UpdateAwaitSettled,
		Args:         []any{contract.AwaitInput{RequestIDs: requestIDs}},
		WaitForStage: client.WorkflowUpdateStageCompleted,
	}
}

// typeUpdateOutlived is the type of the failure of an update whose run ended first.
const typeUpdateOutlived = "AcceptedUpdateCompletedWorkflow"

func isEnded(err error) bool {
	var failure *temporal.ApplicationError
	return errors.As(err, &failure) && failure.Type() == typeUpdateOutlived
}

// isSpent reports whether a run has had as many updates as the server or the conversation
// allows. A run that waits for an approval cannot continue as new to have more.
func isSpent(err error) bool {
	var refused *temporal.ApplicationError
	return isType[*serviceerror.FailedPrecondition](err) ||
		errors.As(err, &refused) && refused.Type() == contract.TypeAwaitRefused
}

// readAnswers returns the requests that have settled by now. Callers ask again, with growing
// pauses.
func (t *Temporal) readAnswers(ctx context.Context, id string, requestIDs []string) (contract.AwaitResult, error) {
	var result contract.AwaitResult
	for _, requestID := range requestIDs {
		view, open, err := t.view(ctx, id, requestID)
		switch {
		case err != nil:
			return result, again(ctx, err)
		case !open:
			return t.awaitEnded(ctx, id, requestIDs)
		case view.Request != nil && view.Request.Settled:
			result.Settled = append(result.Settled, *view.Request)
		}
		result.Conversation = view
	}
	result.Conversation.Request = nil
	return result, nil
}

func isPassing(err error) bool {
	return isType[*client.WorkflowUpdateServiceTimeoutOrCanceledError](err) ||
		isType[*serviceerror.WorkflowNotReady](err) || isType[*serviceerror.ResourceExhausted](err) ||
		isType[*serviceerror.Unavailable](err) || isType[*serviceerror.Aborted](err) ||
		isType[*serviceerror.DeadlineExceeded](err) || isType[*serviceerror.Canceled](err) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// again returns the error of a read: whoever waits for an answer asks again if nothing answered in time.
func again(ctx context.Context, err error) error {
	if ctx.Err() != nil || service.IsKind(err, service.KindUnavailable) {
		return fmt.Errorf("%w: %w", service.ErrAgain, err)
	}
	return err
}

// awaitEnded reads the results of requests from a conversation whose run has ended. If
// another run follows, the caller asks that one.
func (t *Temporal) awaitEnded(ctx context.Context, id string, requestIDs []string) (contract.AwaitResult, error) {
	var result contract.AwaitResult
	for _, requestID := range requestIDs {
		view, open, err := t.view(ctx, id, requestID)
		if err != nil {
			return result, again(ctx, err)
		}
		if open {
			return contract.AwaitResult{}, fmt.Errorf("%w: the conversation goes on in a new run", service.ErrAgain)
		}
		request := contract.Request{ID: requestID, Settled: true, Refused: contract.KindCompleted}
		if view.Request != nil && view.Request.Settled {
			request = *view.Request
		}
		result.Settled = append(result.Settled, request)
		result.Conversation = view
	}
	result.Conversation.Request = nil
	return result, nil
}
