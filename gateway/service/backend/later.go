package backend

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/judgement"
	"agent-stop-and-go/workflows/contract/later"
	"agent-stop-and-go/workflows/contract/reminder"
	"agent-stop-and-go/workflows/contract/review"
)

// Later implements Approvals.
func (t *Temporal) Later(ctx context.Context, uuid string, d later.Deferral) error {
	u := update{name: later.Update, id: rand.Text()}
	err := t.asking(ctx, func(ctx context.Context) error { return t.updateApproval(ctx, uuid, u, d) })
	return t.updateFault(ctx, uuid, err, "puts nothing off")
}

// Release implements service.Control.
func (t *Temporal) Release(ctx context.Context, uuid string, in review.Release) error {
	proven, err := t.proven(contract.ApprovalWorkflowID(uuid), review.UpdateRelease, in)
	if err != nil {
		return err
	}
	err = within(ctx, releaseTimeout, func(ctx context.Context) error {
		return t.updateApproval(ctx, uuid, update{name: review.UpdateRelease}, proven)
	})
	return t.updateFault(ctx, uuid, err, "releases nothing")
}

// releaseTimeout is the time of a release: a worker with the rules judges the call.
const releaseTimeout = 12 * time.Second

// updateApproval sends an update that returns nothing.
func (t *Temporal) updateApproval(ctx context.Context, uuid string, u update, in any) error {
	handle, err := t.client.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: contract.ApprovalWorkflowID(uuid), UpdateID: u.id, UpdateName: u.name, Args: []any{in},
		WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err == nil {
		err = handle.Get(ctx, nil)
	}
	return err
}

// updateFault translates an error of updateApproval, which may be nil, for callers. lacks completes the
// sentence about workers that do not know the update.
func (t *Temporal) updateFault(ctx context.Context, uuid string, err error, lacks string) error {
	var refused *temporal.ApplicationError
	if !errors.As(err, &refused) {
		switch {
		case isNotFound(err):
			return t.goneApproval(ctx, uuid)
		case isPassing(err):
			return service.Errorf(service.KindUnavailable, silentText).Because(err)
		}
		return fault(err, "update an approval")
	}
	switch kind := contract.Kind(refused.Type()); kind {
	case contract.KindDecided:
		return noLongerOpen(uuid)
	case contract.KindInvalid, contract.KindForbidden:
		return service.Errorf(kind, "%s", refused.Message())
	case review.KindUnjudged:
		return service.Errorf(service.KindUnavailable, "%s", refused.Message())
	}
	return service.Errorf(service.KindUnavailable, "the workers are of an earlier version, which %s", lacks).Because(err)
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

// judgementsOf returns what changed rules say of an approval, from its memo.
func judgementsOf(memo *commonpb.Memo) (l judgement.List) {
	payload := memo.GetFields()[judgement.Memo]
	if payload == nil || converter.GetDefaultDataConverter().FromPayload(payload, &l) != nil {
		return nil
	}
	return l
}
