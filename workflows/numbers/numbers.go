package numbers

import (
	"errors"
	"fmt"
	"slices"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/number"
	"agent-stop-and-go/workflows/run"
)

// maxHistory is the number of events after which a run continues as new.
const maxHistory = 1000

// Registry is what the workflow is registered with: a worker, a replayer or a test environment.
type Registry interface {
	RegisterWorkflowWithOptions(w any, o workflow.RegisterOptions)
}

// Register registers the workflow.
func Register(r Registry) {
	r.RegisterWorkflowWithOptions(Numbers, workflow.RegisterOptions{Name: number.Workflow})
}

// Numbers keeps numbers. A cancellation changes nothing.
func Numbers(ctx workflow.Context, in number.Input) error {
	state := in.State
	ctx, _ = workflow.NewDisconnectedContext(ctx)
	all := func() (number.State, error) { return state, nil }
	if err := workflow.SetQueryHandler(ctx, number.QueryAll, all); err != nil {
		return err
	}
	give := func(_ workflow.Context, in number.Give) (number.Given, error) { return state.Give(in.IDs), nil }
	if err := workflow.SetUpdateHandlerWithOptions(ctx, number.UpdateGive, give, workflow.UpdateHandlerOptions{Validator: check}); err != nil {
		return err
	}
	if err := workflow.Await(ctx, func() bool { return run.IsLong(ctx, maxHistory) && workflow.AllHandlersFinished(ctx) }); err != nil {
		return err
	}
	return workflow.NewContinueAsNewError(ctx, number.Workflow, number.Input{State: state})
}

// check refuses what cannot be numbered. It leaves no event.
func check(_ workflow.Context, in number.Give) error {
	switch {
	case len(in.IDs) == 0 || len(in.IDs) > number.MaxGive:
		return refusal(fmt.Errorf("ids: 1 to %d conversations", number.MaxGive))
	case slices.ContainsFunc(in.IDs, func(id string) bool { return !contract.IsUUID(id) }):
		return refusal(errors.New("ids: a conversation has a UUID"))
	}
	return nil
}

func refusal(err error) error {
	return temporal.NewNonRetryableApplicationError(err.Error(), string(contract.KindInvalid), nil)
}
