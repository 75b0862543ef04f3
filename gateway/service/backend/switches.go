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
	"agent-stop-and-go/workflows/contract/switches"
)

// Switches implements service.Control.
func (t *Temporal) Switches(ctx context.Context) (s switches.State, err error) {
	d, err := t.client.DescribeWorkflowExecution(ctx, switches.WorkflowID, "")
	info := d.GetWorkflowExecutionInfo()
	switch {
	case isNotFound(err):
		return s, nil
	case err != nil:
		return s, fault(err, "describe the control")
	case !isOpen(info.GetStatus()):
		return s, nil
	}
	if p := info.GetMemo().GetFields()[switches.MemoSwitches]; p != nil {
		err = converter.GetDefaultDataConverter().FromPayload(p, &s)
	}
	return s, err
}

// Pause implements service.Control.
func (t *Temporal) Pause(ctx context.Context, c switches.Change) (*switches.State, error) {
	return t.changeControl(ctx, switches.UpdatePause, switches.SignalPause, t.provenSwitch(c))
}

// Resume implements service.Control.
func (t *Temporal) Resume(ctx context.Context, c switches.Change) (*switches.State, error) {
	return t.changeControl(ctx, switches.UpdateResume, switches.SignalResume, t.provenSwitch(c))
}

// ChangeLimit implements service.Control.
func (t *Temporal) ChangeLimit(ctx context.Context, c switches.LimitChange) (*switches.State, error) {
	return t.changeControl(ctx, switches.UpdateLimit, switches.SignalLimit, func(name string) (_ any, err error) {
		c.Proof = ""
		c.Proof, err = t.prove(switches.WorkflowID, name, c.Identity, c)
		return c, err
	})
}

func (t *Temporal) provenSwitch(c switches.Change) func(name string) (any, error) {
	return func(name string) (_ any, err error) {
		c.Proof = ""
		c.Proof, err = t.prove(switches.WorkflowID, name, c.Identity, c)
		return c, err
	}
}

// changeControl sends a change as an update. Where no worker answers it in time, it is sent as a
// signal, which is durable without one. Both start the Control if there is none. A change that
// arrives twice counts once.
// proven returns it with the proof for an update or a signal.
func (t *Temporal) changeControl(ctx context.Context, update, signal string, proven func(name string) (any, error)) (*switches.State, error) {
	state, err := t.updateControl(ctx, update, proven)
	if err == nil {
		return &state, nil
	}
	var refused *temporal.ApplicationError
	if errors.As(err, &refused) {
		switch kind := contract.Kind(refused.Type()); kind {
		case contract.KindInvalid, contract.KindBusy:
			return nil, service.Errorf(kind, "%s", refused.Message())
		}
	}
	c, err := proven(signal)
	if err != nil {
		return nil, err
	}
	_, err = t.client.SignalWithStartWorkflow(ctx, switches.WorkflowID, signal, c, controlOptions(), switches.Workflow, switches.Input{})
	return nil, fault(err, "signal the control")
}

func (t *Temporal) updateControl(ctx context.Context, name string, proven func(name string) (any, error)) (s switches.State, err error) {
	ctx, cancel := context.WithTimeout(ctx, admitTimeout)
	defer cancel()
	c, err := proven(name)
	if err != nil {
		return s, err
	}
	handle, err := t.client.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
		StartWorkflowOperation: t.client.NewWithStartWorkflowOperation(controlOptions(), switches.Workflow, switches.Input{}),
		UpdateOptions: client.UpdateWorkflowOptions{
			WorkflowID: switches.WorkflowID, UpdateName: name, Args: []any{c}, WaitForStage: client.WorkflowUpdateStageCompleted,
		},
	})
	if err == nil {
		err = handle.Get(ctx, &s)
	}
	return s, err
}

func controlOptions() client.StartWorkflowOptions {
	return client.StartWorkflowOptions{
		ID: switches.WorkflowID, TaskQueue: switches.TaskQueue,
		WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		StaticSummary:            "switches that pause destructive calls",
	}
}
