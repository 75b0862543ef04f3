package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/transcript"
)

// Decision implements Approvals.
func (t *Temporal) Decision(ctx context.Context, uuid string) (contract.ApprovalResult, error) {
	var record contract.ApprovalResult
	err := t.client.GetWorkflow(ctx, contract.ApprovalWorkflowID(uuid), "").Get(ctx, &record)
	var ended *temporal.WorkflowExecutionError
	switch {
	case err == nil:
		return record.Open(), nil
	case isNotFound(err):
		return record, service.NoApproval(uuid)
	case errors.As(err, &ended):
		return t.terminated(ctx, uuid)
	case ctx.Err() != nil:
		return record, ctx.Err()
	}
	return record, fault(err, "read a decision")
}

// Approval implements Approvals. An approval that has ended is read without a worker.
func (t *Temporal) Approval(ctx context.Context, uuid string) (contract.ApprovalView, error) {
	var view contract.ApprovalView
	open, err := t.queryOpen(ctx, contract.ApprovalWorkflowID(uuid), contract.QueryApproval, &view)
	switch {
	case isNotFound(err):
		return view, service.NoApproval(uuid)
	case err != nil:
		return view, fault(err, "query an approval")
	case open:
		return view, nil
	}
	in, err := t.approvalInput(ctx, uuid)
	if err != nil {
		return view, err
	}
	record, err := t.Decision(ctx, uuid)
	record = record.Public() // as in the query's result
	view = contract.ApprovalView{Pending: in.Pending(), Result: &record}
	if err == nil && in.Reason == contract.ReasonDestructive { // rules may have judged it while it waited
		var d *workflowservice.DescribeWorkflowExecutionResponse
		d, err = t.client.DescribeWorkflowExecution(ctx, contract.ApprovalWorkflowID(uuid), "")
		view.Judgements, err = judgementsOf(d.GetWorkflowExecutionInfo().GetMemo()), fault(err, "describe an approval")
	}
	return view, err
}

// Subject implements Approvals.
func (t *Temporal) Subject(ctx context.Context, uuid string) (s service.Subject, err error) {
	id := contract.ApprovalWorkflowID(uuid)
	info := t.asked.Take(id)
	if info == nil {
		d, err := t.client.DescribeWorkflowExecution(ctx, id, "")
		if isNotFound(err) {
			return s, service.NoApproval(uuid)
		}
		if err != nil {
			return s, fault(err, "describe an approval")
		}
		info = d.GetWorkflowExecutionInfo()
	}
	s = service.Subject{
		ConversationID: text(info.GetSearchAttributes().GetIndexedFields()[contract.AttrConversationID]),
		Owner:          ownerOf(info.GetSearchAttributes().GetIndexedFields()),
		Approvers:      approversOf(info.GetMemo()),
		Elsewhere:      t.isElsewhere(info),
		CallAs:         contract.CallAs(text(info.GetMemo().GetFields()[contract.MemoCallAs])),
	}
	if schema := info.GetMemo().GetFields()[contract.MemoSchema]; schema != nil {
		s.Question = true
		s.Schema, err = t.schema(ctx, schema.GetData())
	}
	return s, err
}

// schema reads the schema of an answer from a memo.
func (t *Temporal) schema(ctx context.Context, memo []byte) (json.RawMessage, error) {
	var kept contract.JSON
	if err := json.Unmarshal(memo, &kept); err != nil {
		return nil, fmt.Errorf("read the schema of an approval: %w", err)
	}
	return transcript.ReadJSON(ctx, t.blobs, kept)
}
