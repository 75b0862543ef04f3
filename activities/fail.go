package activities

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/workflows/contract"
)

// maxRetryDelay is the longest pause a provider may ask for. Beyond it the failure
// is reported instead of being waited for.
const maxRetryDelay = 2 * time.Minute

// fail makes the error an activity returns. The message goes into history and
// into the conversation: it must be one plain sentence without secrets.
func fail(kind contract.Kind, message string, after time.Duration) error {
	o := temporal.ApplicationErrorOptions{NonRetryable: kind.Permanent(), NextRetryDelay: after}
	if after > maxRetryDelay {
		o.NonRetryable, o.NextRetryDelay = true, 0
		message = fmt.Sprintf("%s (to be tried again in %s)", message, after.Round(time.Second))
	}
	return temporal.NewApplicationErrorWithOptions(message, string(kind), o)
}

// failPatiently is fail for what is tried again whenever it may be, however late that is.
func failPatiently(kind contract.Kind, message string, after time.Duration) error {
	o := temporal.ApplicationErrorOptions{NonRetryable: kind.Permanent(), NextRetryDelay: after}
	return temporal.NewApplicationErrorWithOptions(message, string(kind), o)
}

// failForGood makes an error like fail does, of which nothing is tried again.
func failForGood(kind contract.Kind, message string) error {
	return temporal.NewApplicationErrorWithOptions(message, string(kind), temporal.ApplicationErrorOptions{NonRetryable: true})
}

// isCancellation passes a cancellation on as what it is.
func isCancellation(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, context.Canceled)
}

const heartbeatEvery = 5 * time.Second

// heartbeat reports that the activity lives until the returned function is
// called. Through it a cancellation reaches the activity's context.
func heartbeat(ctx context.Context) (stop func()) {
	if !heartbeats(ctx) {
		return func() {}
	}
	return heartbeatLoop(ctx, func() { activity.RecordHeartbeat(ctx) })
}

// heartbeats reports whether there is anybody to hear that the activity lives.
func heartbeats(ctx context.Context) bool {
	return activity.IsActivity(ctx) && !activity.GetInfo(ctx).IsLocalActivity
}

// heartbeatLoop calls record now and then until the returned function is called.
func heartbeatLoop(ctx context.Context, record func()) (stop func()) {
	done := make(chan struct{})
	go func() {
		tick := time.NewTicker(heartbeatEvery)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-ctx.Done():
				return
			case <-tick.C:
				record()
			}
		}
	}()
	return func() { close(done) }
}
