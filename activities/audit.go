package activities

import (
	"context"
	"errors"
	"fmt"

	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/activities/auditing"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/audit"
)

// unsent adds to a failure, as fail makes it, that nothing was recorded or sent. One with details says it
// by its kind.
func unsent(err error) error {
	var app *temporal.ApplicationError
	if !errors.As(err, &app) || app.HasDetails() {
		return err
	}
	return temporal.NewApplicationErrorWithOptions(app.Message(), app.Type(), temporal.ApplicationErrorOptions{
		NonRetryable: app.NonRetryable(), NextRetryDelay: app.NextRetryDelay(), Details: []any{audit.Unsent{Unsent: true}},
	})
}

// Audit records destructive calls.
type Audit interface {
	Begin(ctx context.Context, c auditing.Call) (end auditing.End, err error)
}

// audited records that a call is about to be made. Its error is an ApplicationError of the kind
// KindPaused with a Hold in its details.
func audited(ctx context.Context, a Audit, c auditing.Call) (auditing.End, error) {
	if a == nil {
		return func(error, bool) {}, nil
	}
	end, err := a.Begin(ctx, c)
	if err != nil {
		return nil, temporal.NewApplicationErrorWithOptions(fmt.Sprintf("it cannot be recorded yet: %v", err), string(contract.KindPaused),
			temporal.ApplicationErrorOptions{NonRetryable: contract.KindPaused.Permanent(), Details: []any{audit.Hold{Unrecorded: true}}})
	}
	return end, nil
}
