// Package heartbeat sends the heartbeats of activities. Cancellations reach the context of an
// activity through them.
package heartbeat

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"
)

const interval = 5 * time.Second

// Send sends heartbeats until stop is called, if the activity can.
func Send(ctx context.Context) (stop func()) {
	return every(ctx, func() { activity.RecordHeartbeat(ctx) })
}

// SendDetails is Send with details for the next attempt.
func SendDetails[T any](ctx context.Context, details func() T) (stop func()) {
	return every(ctx, func() { activity.RecordHeartbeat(ctx, details()) })
}

// Possible reports whether the activity can send heartbeats.
func Possible(ctx context.Context) bool {
	return activity.IsActivity(ctx) && !activity.GetInfo(ctx).IsLocalActivity
}

func every(ctx context.Context, record func()) (stop func()) {
	if !Possible(ctx) {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		tick := time.NewTicker(interval)
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
