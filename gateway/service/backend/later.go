package backend

import (
	"context"
	"errors"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/later"
	"agent-stop-and-go/workflows/contract/reminder"
)

// Later implements Approvals.
func (t *Temporal) Later(ctx context.Context, uuid string, d later.Deferral) error {
	ctx, cancel := context.WithTimeout(ctx, admitTimeout)
	defer cancel()
	handle, err := t.client.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: contract.ApprovalWorkflowID(uuid), UpdateName: later.Update, Args: []any{d},
		WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err == nil {
		err = handle.Get(ctx, nil)
	}
	var refused *temporal.ApplicationError
	switch {
	case isNotFound(err):
		return t.goneApproval(ctx, uuid)
	case errors.As(err, &refused) && refused.Type() == string(contract.KindDecided):
		return noLongerOpen(uuid)
	case errors.As(err, &refused) && refused.Type() == string(contract.KindInvalid):
		return service.Errorf(contract.KindInvalid, "%s", refused.Message())
	case errors.As(err, &refused): // by a worker that does not know the update
		return service.Errorf(service.KindUnavailable, "the workers are of an earlier version, which puts nothing off").Because(err)
	case isPassing(err):
		return service.Errorf(service.KindUnavailable, silentText).Because(err)
	}
	return fault(err, "put an approval off")
}

// goneApproval is the error for an approval that nothing can be sent to.
func (t *Temporal) goneApproval(ctx context.Context, uuid string) error {
	_, err := t.client.DescribeWorkflowExecution(ctx, contract.ApprovalWorkflowID(uuid), "")
	switch {
	case isNotFound(err):
		return service.NoApproval(uuid)
	case err != nil:
		return fault(err, "describe an approval")
	}
	return noLongerOpen(uuid)
}

// deferralsOf returns the deferrals in a memo.
func deferralsOf(memo *commonpb.Memo) (l later.List) {
	payload := memo.GetFields()[later.Memo]
	if payload == nil || converter.GetDefaultDataConverter().FromPayload(payload, &l) != nil {
		return nil
	}
	return l
}

// remindedOf returns the times in a memo at which an approval has reminded people.
func remindedOf(memo *commonpb.Memo) (times []time.Time) {
	payload := memo.GetFields()[reminder.Memo]
	if payload == nil || converter.GetDefaultDataConverter().FromPayload(payload, &times) != nil {
		return nil
	}
	return times
}
