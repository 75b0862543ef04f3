package activities

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/workflows/contract"
)

// maxRetryDelay is the longest pause a provider may ask for. Beyond it the failure is reported
// at once.
const maxRetryDelay = 2 * time.Minute

// fail makes the error that an activity returns. The message is written to history and to the
// conversation: it must be one plain sentence without secrets.
func fail(kind contract.Kind, message string, after time.Duration) error {
	o := temporal.ApplicationErrorOptions{NonRetryable: kind.Permanent(), NextRetryDelay: after}
	if after > maxRetryDelay {
		o.NonRetryable, o.NextRetryDelay = true, 0
		message = fmt.Sprintf("%s (to be tried again in %s)", message, after.Round(time.Second))
	}
	return temporal.NewApplicationErrorWithOptions(message, string(kind), o)
}

// failPatiently is fail for activities that retry however long the pause is.
func failPatiently(kind contract.Kind, message string, after time.Duration) error {
	o := temporal.ApplicationErrorOptions{NonRetryable: kind.Permanent(), NextRetryDelay: after}
	return temporal.NewApplicationErrorWithOptions(message, string(kind), o)
}

// failForGood is fail without retries.
func failForGood(kind contract.Kind, message string) error {
	return temporal.NewApplicationErrorWithOptions(message, string(kind), temporal.ApplicationErrorOptions{NonRetryable: true})
}

// isCancellation reports whether an error is the cancellation of the activity.
func isCancellation(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, context.Canceled)
}
