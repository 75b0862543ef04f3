package deletion

import (
	"context"
	"fmt"
	"time"

	workflowpb "go.temporal.io/api/workflow/v1"

	"agent-stop-and-go/activities/heartbeat"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deletion"
)

// endTime is how long a conversation may take to end by itself: a destructive call that has been
// sent is waited for. Then it is terminated.
const endTime = 50 * time.Second

const reasonDeleted = "the conversation is deleted"

// End ends a conversation, unless an approval waits, or it has changed.
func (d *Deletions) End(ctx context.Context, in deletion.Input) (out deletion.EndResult, err error) {
	defer heartbeat.Send(ctx)()
	s, id := serverOf(ctx), contract.ConversationWorkflowID(in.ConversationID)
	info, err := s.describe(ctx, id)
	switch {
	case err != nil:
		return out, fmt.Errorf("describe the conversation: %w", err)
	case info == nil || !runs(info):
		return out, nil
	case !in.Force && waits(info):
		return deletion.EndResult{Refused: contract.KindWaiting}, nil
	}
	conditional := !in.UnchangedSince.IsZero()
	if conditional {
		changed, err := s.changed(ctx, id, in.UnchangedSince)
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
		if err != nil {
			d.Logger.Warn("a conversation that does not say whether it has changed is kept", "conversation", in.ConversationID, "error", err)
		}
		if err != nil || changed {
			return deletion.EndResult{Refused: contract.KindBusy}, nil
		}
	}
	if ended, err := s.close(ctx, id, in); err != nil || ended {
		return out, err
	}
	if conditional {
		return deletion.EndResult{Refused: contract.KindBusy}, nil
	}
	if err = s.client.TerminateWorkflow(ctx, id, "", reasonDeleted); isNotFound(err) {
		err = nil
	}
	return out, err
}

// close asks a conversation to end and reports whether it has ended in time.
func (s server) close(ctx context.Context, id string, in deletion.Input) (ended bool, err error) {
	err = s.client.SignalWorkflow(ctx, id, "", contract.SignalClose, contract.CloseSignal{
		RequestID: contract.NameUUID(in.ConversationID, "deletion"), Reason: reasonDeleted, By: in.By, UnchangedSince: in.UnchangedSince,
	})
	if err != nil && !isNotFound(err) {
		return false, fmt.Errorf("close the conversation: %w", err)
	}
	wait, cancel := context.WithTimeout(ctx, endTime)
	defer cancel()
	_ = s.client.GetWorkflow(wait, id, "").Get(wait, nil) // what counts is whether it runs then
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	info, err := s.describe(ctx, id)
	return info == nil || !runs(info), err
}

// changed reports whether a conversation has changed since a time, or has a turn. Asking writes no
// history. The conversation decides again when it gets the signal.
func (s server) changed(ctx context.Context, id string, since time.Time) (bool, error) {
	answer, err := s.client.QueryWorkflow(ctx, id, "", contract.QueryConversation, contract.ConversationQuery{})
	if err != nil {
		return false, fmt.Errorf("ask the conversation for its state: %w", err)
	}
	var v contract.ConversationView
	if err := answer.Get(&v); err != nil {
		return false, fmt.Errorf("read the conversation's state: %w", err)
	}
	return v.Running || v.Queued > 0 || len(v.Pending) > 0 || v.UpdatedAt.After(since), nil
}

// waits reports whether an approval of a conversation waits.
func waits(e *workflowpb.WorkflowExecutionInfo) bool {
	return textOf(e.GetSearchAttributes().GetIndexedFields()[contract.AttrConversationStatus]) == string(contract.StatusWaitingApproval)
}
