package backend

import (
	"context"
	"errors"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/switches"
)

var control = singleton{switches.WorkflowID, switches.TaskQueue, switches.Workflow, "switches that pause destructive calls"}

// Switches implements service.Control.
func (t *Temporal) Switches(ctx context.Context) (s switches.State, err error) {
	p, err := control.memo(ctx, t, switches.MemoSwitches)
	if p != nil {
		err = converter.GetDefaultDataConverter().FromPayload(p, &s)
	}
	return s, err
}

// Pause implements service.Control.
func (t *Temporal) Pause(ctx context.Context, c switches.Change) (*switches.State, error) {
	return t.changeControl(ctx, switches.UpdatePause, switches.SignalPause, c)
}

// Resume implements service.Control.
func (t *Temporal) Resume(ctx context.Context, c switches.Change) (*switches.State, error) {
	return t.changeControl(ctx, switches.UpdateResume, switches.SignalResume, c)
}

// ChangeLimit implements service.Control.
func (t *Temporal) ChangeLimit(ctx context.Context, c switches.LimitChange) (*switches.State, error) {
	return t.changeControl(ctx, switches.UpdateLimit, switches.SignalLimit, c)
}

// changeControl sends a change as an update. Where no worker answers it in time, it is sent as a
// signal, which is durable without one. Both start the Control if there is none. A change that
// arrives twice counts once.
func (t *Temporal) changeControl(ctx context.Context, update, signal string, change any) (*switches.State, error) {
	var state switches.State
	err := control.update(ctx, t, update, switches.Input{}, change, &state)
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
	c, err := t.proven(control.id, signal, change)
	if err != nil {
		return nil, err
	}
	_, err = t.client.SignalWithStartWorkflow(ctx, control.id, signal, c, control.options(), control.workflow, switches.Input{})
	return nil, fault(err, "signal the control")
}
