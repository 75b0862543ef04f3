package backend

import (
	"context"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/converter"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// approvalInput returns the input with which an approval was started.
func (t *Temporal) approvalInput(ctx context.Context, uuid string) (contract.ApprovalInput, error) {
	var in contract.ApprovalInput
	first, err := t.event(ctx, uuid, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	if err != nil {
		return in, err
	}
	input := first.GetWorkflowExecutionStartedEventAttributes().GetInput()
	if err := converter.GetDefaultDataConverter().FromPayloads(input, &in); err != nil {
		return in, fmt.Errorf("read what approval %s was started with: %w", uuid, err)
	}
	return in, nil
}

// terminated returns the record of an approval whose workflow ended without a decision: an
// operator terminated it, or it failed.
func (t *Temporal) terminated(ctx context.Context, uuid string) (contract.ApprovalResult, error) {
	in, err := t.approvalInput(ctx, uuid)
	if err != nil {
		return contract.ApprovalResult{}, err
	}
	last, err := t.event(ctx, uuid, enumspb.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT)
	if err != nil {
		return contract.ApprovalResult{}, err
	}
	record := contract.ApprovalResult{
		UUID: uuid, ConversationID: in.ConversationID, Tool: in.Tool, ArgumentsSHA256: in.ArgumentsSHA256,
		Decision: contract.Terminated, RequestedAt: in.CreatedAt, DecidedAt: last.GetEventTime().AsTime(),
	}
	record.By, record.Reason = endedBy(last)
	return record, nil
}

// event returns the first event of an approval's history that matches the filter.
func (t *Temporal) event(ctx context.Context, uuid string, f enumspb.HistoryEventFilterType) (*historypb.HistoryEvent, error) {
	events := t.client.GetWorkflowHistory(ctx, contract.ApprovalWorkflowID(uuid), "", false, f)
	if !events.HasNext() {
		return nil, service.NoApproval(uuid)
	}
	e, err := events.Next()
	if isNotFound(err) {
		return nil, service.NoApproval(uuid)
	}
	return e, fault(err, "read the history of an approval")
}

// endedBy returns who ended a workflow, and why.
func endedBy(last *historypb.HistoryEvent) (by, why string) {
	switch last.GetEventType() {
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED:
		a := last.GetWorkflowExecutionTerminatedEventAttributes()
		return a.GetIdentity(), a.GetReason()
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED:
		return "", "the workflow failed: " + last.GetWorkflowExecutionFailedEventAttributes().GetFailure().GetMessage()
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_TIMED_OUT:
		return "", "the workflow timed out"
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED:
		return "", "the workflow was cancelled"
	}
	return "", ""
}
