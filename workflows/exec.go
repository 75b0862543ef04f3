package workflows

import (
	"errors"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

// runActivity executes an activity by its typed reference and waits for it. These helpers and
// package handover are the only places that execute activities.
func runActivity[In, Out any](ctx workflow.Context, a contract.Activity[In, Out], o workflow.ActivityOptions, in In) (Out, error) {
	var out Out
	err := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, o), a.Name, in).Get(ctx, &out)
	return out, err
}

// runLocal executes an activity inside the worker that holds the workflow.
func runLocal[In, Out any](ctx workflow.Context, a contract.Activity[In, Out], o workflow.LocalActivityOptions, in In) (Out, error) {
	var out Out
	err := workflow.ExecuteLocalActivity(workflow.WithLocalActivityOptions(ctx, o), a.Name, in).Get(ctx, &out)
	return out, err
}

// failure converts an activity's error.
func failure(err error) wording.Failure {
	var timeout *temporal.TimeoutError
	if errors.As(err, &timeout) {
		return wording.Failure{Kind: contract.KindTimeout, Message: wording.CauseNoAnswer, Lost: true}
	}
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		return wording.Failure{Kind: contract.Kind(app.Type()), Message: app.Message()}
	}
	var crash *temporal.PanicError
	if errors.As(err, &crash) { // a call may have been made by then
		return wording.Failure{Kind: contract.KindOutcomeUnknown, Message: crash.Error()}
	}
	return wording.Failure{Kind: contract.KindInternal, Message: innermost(err).Error()}
}

// innermost removes the SDK's wrappers around an error: event numbers, which do not help
// people.
func innermost(err error) error {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err
}
