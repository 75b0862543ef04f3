package backend

import (
	"context"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deletion"
)

// startTimeout limits the start of a deletion, which goes on if the caller disconnects.
const startTimeout = 15 * time.Second

// Delete implements Conversations. Whoever asks while the conversation is being deleted waits for
// the same deletion. Once it has started, it fails with context.DeadlineExceeded when the time of
// the caller is up, which the server may notice first.
func (t *Temporal) Delete(ctx context.Context, in deletion.Input) (result deletion.Result, err error) {
	start, cancel := context.WithTimeout(context.WithoutCancel(ctx), startTimeout)
	defer cancel()
	d, err := t.client.DescribeWorkflowExecution(start, contract.ConversationWorkflowID(in.ConversationID), "")
	info := d.GetWorkflowExecutionInfo()
	switch {
	case isNotFound(err) || err == nil && t.isElsewhere(info):
		return result, service.NoConversation(in.ConversationID)
	case err != nil:
		return result, fault(err, "describe the conversation")
	case !in.Force && isOpen(info.GetStatus()) && text(info.GetSearchAttributes().GetIndexedFields()[contract.AttrConversationStatus]) == string(contract.StatusWaitingApproval):
		return deletion.Result{Refused: contract.KindWaiting}, nil // what is refused writes no history
	}
	id := deletion.WorkflowID(in.ConversationID)
	if in.Proof, err = t.prove(id, deletion.Workflow, in.Identity, in.Claim()); err != nil {
		return result, err
	}
	run, err := t.client.ExecuteWorkflow(start, client.StartWorkflowOptions{
		ID: id, TaskQueue: t.taskQueue,
		WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		StaticSummary:            t.agentName + " · deletion",
	}, deletion.Workflow, in)
	if err != nil {
		return result, fault(err, "start a deletion")
	}
	err = run.Get(ctx, &result)
	switch {
	case ctx.Err() != nil:
		return result, ctx.Err()
	case isPassing(err):
		return result, context.DeadlineExceeded
	}
	return result, fault(err, "wait for a deletion")
}
