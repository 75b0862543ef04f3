package deletion

import (
	"context"
	"fmt"
	"time"

	workflowpb "go.temporal.io/api/workflow/v1"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deletion"
)

// endTime is how long a conversation may take to end by itself: a destructive call that has been
// sent is waited for. Then it is terminated.
const endTime = 50 * time.Second

const reasonDeleted = "the conversation is deleted"

// End ends a conversation, unless an approval waits.
func (d *Deletions) End(ctx context.Context, in deletion.Input) (out deletion.EndResult, err error) {
	defer beat(ctx)()
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
	err = s.client.SignalWorkflow(ctx, id, "", contract.SignalClose, contract.CloseSignal{
		RequestID: contract.NameUUID(in.ConversationID, "deletion"), Reason: reasonDeleted, By: in.By,
	})
	if err != nil && !isNotFound(err) {
		return out, fmt.Errorf("close the conversation: %w", err)
	}
	wait, cancel := context.WithTimeout(ctx, endTime)
	defer cancel()
	_ = s.client.GetWorkflow(wait, id, "").Get(wait, nil) // what counts is whether it runs then
	if ctx.Err() != nil {
		return out, ctx.Err()
	}
	if info, err = s.describe(ctx, id); err != nil || info == nil || !runs(info) {
		return out, err
	}
	if err = s.client.TerminateWorkflow(ctx, id, "", reasonDeleted); isNotFound(err) {
		err = nil
	}
	return out, err
}

// waits reports whether an approval of a conversation waits.
func waits(e *workflowpb.WorkflowExecutionInfo) bool {
	return textOf(e.GetSearchAttributes().GetIndexedFields()[contract.AttrConversationStatus]) == string(contract.StatusWaitingApproval)
}
