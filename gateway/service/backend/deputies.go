package backend

import (
	"context"
	"errors"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deputy"
)

func (t *Temporal) deputies() singleton {
	return singleton{deputy.WorkflowID(t.taskQueue), t.taskQueue, deputy.Workflow, "who decides in whose place"}
}

// Deputies implements service.Deputation. A memo that cannot be read, such as one of another
// encryption key, deputizes nobody, and keeps nobody from what they may do themselves.
func (t *Temporal) Deputies(ctx context.Context) (s deputy.State, err error) {
	p, err := t.deputies().memo(ctx, t, deputy.Memo)
	if p == nil || err != nil {
		return s, err
	}
	if converter.GetDefaultDataConverter().FromPayload(p, &s) != nil {
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

func (t *Temporal) changeDeputies(ctx context.Context, name string, c deputy.Change) error {
	err := t.deputies().update(ctx, t, name, deputy.Input{}, c, nil)
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
