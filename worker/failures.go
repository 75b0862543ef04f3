package worker

import (
	"context"
	"errors"

	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/telemetry"
)

// counted counts the failed attempts of an activity.
func counted[In, Out any](a contract.Activity[In, Out], method func(context.Context, In) (Out, error)) func(context.Context, In) (Out, error) {
	return func(ctx context.Context, in In) (Out, error) {
		out, err := method(ctx, in)
		if kind := kindOf(err); kind != "" {
			telemetry.Failure(ctx, a.Name, kind)
		}
		return out, err
	}
}

// kindOf returns the kind of an activity's failure. A cancellation is none.
func kindOf(err error) contract.Kind {
	var failed *temporal.ApplicationError
	switch {
	case err == nil || errors.Is(err, context.Canceled) || temporal.IsCanceledError(err):
		return ""
	case errors.As(err, &failed) && failed.Type() != "":
		return contract.Kind(failed.Type())
	}
	return contract.KindInternal
}
