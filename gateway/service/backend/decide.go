package backend

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/review"
	"agent-stop-and-go/workflows/credential"
)

// judgeTimeout is how long a worker may take to have a call judged again: the rules may need facts of
// a server.
const judgeTimeout = 15 * time.Second

// Decide implements Approvals. An update is checked and answered in one round trip, and
// recorded only if it is taken. Where no worker answers it in time, and with workers that do
// not know it, the decision is sent as a signal, which is durable without a worker. Not while a
// worker handles the update: the signal would be judged as well.
func (t *Temporal) Decide(ctx context.Context, uuid string, in contract.DecideSignal) (*contract.ApprovalResult, error) {
	if len(in.Edit) > 0 || in.Always != nil {
		return t.edit(ctx, uuid, in)
	}
	if len(in.Credential) > contract.InlineLimit { // stored only for an approval that waits
		return nil, t.signalDecision(ctx, uuid, in)
	}
	t.board.Expect(in.RequestID)
	u := update{name: contract.UpdateDecide, id: rand.Text()}
	var record contract.ApprovalResult
	send := func(ctx context.Context) (err error) {
		record, err = t.updateDecision(ctx, uuid, u, in)
		return err
	}
	err := t.asking(ctx, send)
	if isPassing(err) && t.isHandled(ctx, uuid) {
		err = within(ctx, judgeTimeout, send)
	}
	if err == nil {
		return &record, nil
	}
	t.board.Forget(in.RequestID)
	var refused *temporal.ApplicationError
	if errors.As(err, &refused) {
		switch kind := contract.Kind(refused.Type()); kind {
		case contract.KindDecided:
			return nil, noLongerOpen(uuid)
		case contract.KindInvalid:
			return nil, service.Errorf(kind, "invalid answer: %s", refused.Message())
		case contract.KindForbidden:
			return nil, service.Errorf(kind, "%s", refused.Message())
		case review.KindUnjudged: // a signal would not be judged either
			return nil, service.Errorf(service.KindUnavailable, "%s", refused.Message()).Because(err)
		}
	}
	sent := isPassing(err) // and may have been taken since
	if err = t.signalDecision(ctx, uuid, in); sent && service.IsKind(err, contract.KindDecided) {
		err = nil
	}
	return nil, err
}

// update is an update of an approval. The server handles those of one ID once.
type update struct{ name, id string }

// updateDecision decides with an update.
func (t *Temporal) updateDecision(ctx context.Context, uuid string, u update, in contract.DecideSignal) (record contract.ApprovalResult, err error) {
	id := contract.ApprovalWorkflowID(uuid)
	if in.Proof, err = t.prove(id, u.name, in.Identity, in); err != nil {
		return record, err
	}
	handle, err := t.client.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: id, UpdateID: u.id, UpdateName: u.name, Args: []any{in},
		WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err == nil {
		err = handle.Get(ctx, &record)
	}
	return record, err
}

// isHandled reports whether a worker has a task of an approval.
func (t *Temporal) isHandled(ctx context.Context, uuid string) bool {
	d, err := t.client.DescribeWorkflowExecution(ctx, contract.ApprovalWorkflowID(uuid), "")
	return err == nil && d.GetPendingWorkflowTask().GetState() == enumspb.PENDING_WORKFLOW_TASK_STATE_STARTED
}

// signalDecision sends a decision to an approval that waits.
func (t *Temporal) signalDecision(ctx context.Context, uuid string, in contract.DecideSignal) (err error) {
	id := contract.ApprovalWorkflowID(uuid)
	if err = t.takesDecision(ctx, uuid); err != nil {
		return err
	}
	if in.Credential, err = credential.Keep(ctx, t.blobs, in.Credential); err != nil {
		return err
	}
	if in.Proof, err = t.prove(id, contract.SignalDecide, in.Identity, in); err != nil {
		return err
	}
	err = t.client.SignalWorkflow(ctx, id, "", contract.SignalDecide, in)
	if isNotFound(err) { // another decision was faster
		return noLongerOpen(uuid)
	}
	return fault(err, "signal a decision")
}

// takesDecision returns why an approval takes no decision, or nil.
func (t *Temporal) takesDecision(ctx context.Context, uuid string) error {
	d, err := t.client.DescribeWorkflowExecution(ctx, contract.ApprovalWorkflowID(uuid), "")
	info := d.GetWorkflowExecutionInfo()
	switch {
	case isNotFound(err):
		return service.NoApproval(uuid)
	case err != nil:
		return fault(err, "describe an approval")
	case !isOpen(info.GetStatus()):
		return noLongerOpen(uuid)
	case info.GetHistoryLength() >= maxUnanswered || info.GetHistorySizeBytes() >= maxUnansweredBytes:
		return service.Errorf(service.KindUnavailable, silentText) // no worker has read earlier signals
	}
	return nil
}

func noLongerOpen(uuid string) *service.Error {
	return service.Errorf(contract.KindDecided, "approval %s was already decided", uuid)
}
