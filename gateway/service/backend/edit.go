package backend

import (
	"context"
	"errors"

	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/edit"
	"agent-stop-and-go/workflows/contract/review"
	"agent-stop-and-go/workflows/credential"
)

// edit approves with changes, or for later calls, too. That is not sent as a signal: a worker that
// does not know it would approve without.
func (t *Temporal) edit(ctx context.Context, uuid string, in contract.DecideSignal) (_ *contract.ApprovalResult, err error) {
	if len(in.Credential) > contract.InlineLimit { // stored only for an approval that waits
		if err := t.takesDecision(ctx, uuid); err != nil {
			return nil, err
		}
	}
	if in.Credential, err = credential.Keep(ctx, t.blobs, in.Credential); err != nil {
		return nil, err
	}
	var record contract.ApprovalResult
	err = within(ctx, judgeTimeout, func(ctx context.Context) (err error) {
		record, err = t.updateDecision(ctx, uuid, update{name: edit.Update}, in)
		return err
	})
	var refused *temporal.ApplicationError
	switch {
	case err == nil:
		return &record, nil
	case isNotFound(err):
		return nil, t.goneApproval(ctx, uuid)
	case isPassing(err):
		return nil, service.Errorf(service.KindUnavailable, silentText).Because(err)
	case !errors.As(err, &refused):
		return nil, fault(err, "approve with more than a yes")
	}
	switch kind := contract.Kind(refused.Type()); kind {
	case contract.KindDecided:
		return nil, noLongerOpen(uuid)
	case contract.KindInvalid, contract.KindForbidden:
		return nil, service.Errorf(kind, "%s", refused.Message())
	case review.KindUnjudged:
		return nil, service.Errorf(service.KindUnavailable, "%s", refused.Message()).Because(err)
	}
	return nil, service.Errorf(service.KindUnavailable, "the workers are of an earlier version, which takes a yes or a no only").Because(err)
}
