package backend

import (
	"context"
	"errors"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deputy"
)

// Deputies implements service.Deputation. A memo that cannot be read, such as one of another
// encryption key, deputizes nobody, and keeps nobody from what they may do themselves.
func (t *Temporal) Deputies(ctx context.Context) (s deputy.State, err error) {
	d, err := t.client.DescribeWorkflowExecution(ctx, deputy.WorkflowID(t.taskQueue), "")
	info := d.GetWorkflowExecutionInfo()
	switch {
	case isNotFound(err):
		return s, nil
	case err != nil:
		return s, fault(err, "describe the deputies")
	case !isOpen(info.GetStatus()):
		return s, nil
	}
	if p := info.GetMemo().GetFields()[deputy.Memo]; p == nil || converter.GetDefaultDataConverter().FromPayload(p, &s) != nil {
		return deputy.State{}, nil
	}
	return s, nil
}

// Appoint implements service.Deputation. It starts the workflow if there is none.
func (t *Temporal) Appoint(ctx context.Context, c deputy.Change) error {
	return t.changeDeputies(ctx, deputy.UpdateAppoint, c)
}

// Revoke implements service.Deputation.
func (t *Temporal) Revoke(ctx context.Context, c deputy.Change) error {
	return t.changeDeputies(ctx, deputy.UpdateRevoke, c)
}

func (t *Temporal) changeDeputies(ctx context.Context, name string, c deputy.Change) (err error) {
	ctx, cancel := context.WithTimeout(ctx, admitTimeout)
	defer cancel()
	id := deputy.WorkflowID(t.taskQueue)
	by := contract.Identity{Subject: c.By.Subject, Issuer: c.By.Issuer}
	if c.Proof, err = t.prove(id, name, by, c); err != nil {
		return err
	}
	start := client.StartWorkflowOptions{
		ID: id, TaskQueue: t.taskQueue, StaticSummary: "who decides in whose place",
		WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
	}
	handle, err := t.client.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
		StartWorkflowOperation: t.client.NewWithStartWorkflowOperation(start, deputy.Workflow, deputy.Input{}),
		UpdateOptions: client.UpdateWorkflowOptions{
			WorkflowID: id, UpdateName: name, Args: []any{c}, WaitForStage: client.WorkflowUpdateStageCompleted,
		},
	})
	if err == nil {
		err = handle.Get(ctx, nil)
	}
	var refused *temporal.ApplicationError
	if errors.As(err, &refused) {
		switch kind := contract.Kind(refused.Type()); kind {
		case contract.KindInvalid, contract.KindForbidden, contract.KindBusy:
			return service.Errorf(kind, "%s", refused.Message())
		}
	}
	if isPassing(err) {
		return service.Errorf(service.KindUnavailable, silentText).Because(err)
	}
	return fault(err, "change the deputies")
}
