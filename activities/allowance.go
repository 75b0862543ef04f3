package activities

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"

	"agent-stop-and-go/activities/heartbeat"
	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/workflows/contract"
)

// allowance is the time that all attempts at one reply of a model may take together. Each
// attempt passes the time used on to the next in the details of its heartbeats, so time without
// a worker does not count. Local activities have no heartbeats: each earlier attempt counts as
// long as the present one.
type allowance struct {
	total  time.Duration // 0 is no bound
	spent  time.Duration // by attempts before this one
	before int32         // earlier attempts of unknown duration
	began  time.Time
}

// allowance starts an attempt at a reply, and sends heartbeats until stop is called.
func (m *Models) allowance(ctx context.Context, model string) (a *allowance, stop func()) {
	a = &allowance{total: m.facts(model).TotalTimeout, began: time.Now()}
	if !heartbeat.Possible(ctx) {
		if activity.IsActivity(ctx) {
			a.before = activity.GetInfo(ctx).Attempt - 1
		}
		return a, func() {}
	}
	if activity.HasHeartbeatDetails(ctx) {
		if activity.GetHeartbeatDetails(ctx, &a.spent) != nil {
			a.spent = 0 // unreadable details: an older worker recorded none
		}
	}
	return a, heartbeat.SendDetails(ctx, a.used)
}

func (a *allowance) used() time.Duration {
	now := time.Since(a.began)
	return a.spent + now + time.Duration(a.before)*now
}

// within returns the context of a call, which ends with the allowance.
func (a *allowance) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if a.total == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, a.total-a.spent-time.Since(a.began))
}

// minAttempt is the shortest remaining time for another attempt.
const minAttempt = time.Second

// failure converts the failure of a call. It is permanent if there is no time for another
// attempt.
func (a *allowance) failure(ctx context.Context, err error) error {
	if isCancellation(ctx, err) {
		return ctx.Err()
	}
	if a.total > 0 && ctx.Err() == nil && a.total-a.used() < minAttempt {
		return failForGood(contract.KindModelUnavailable, fmt.Sprintf("the model did not answer within %s, in all attempts together", a.total))
	}
	if heartbeat.Possible(ctx) && ctx.Err() == nil && repeatable(err) { // for the next attempt
		activity.RecordHeartbeat(ctx, a.used())
	}
	return modelFailure(ctx, err)
}

// repeatable reports whether a model is called again after a failure.
func repeatable(err error) bool {
	var known *llm.Error
	return !errors.As(err, &known) || !known.Kind.Permanent()
}

// until returns the time at which the allowance ends.
func (a *allowance) until(now time.Time) time.Time {
	if a.total == 0 {
		return time.Time{}
	}
	return now.Add(a.total - a.used())
}

// isKind reports whether the failure of a model is of the given kind.
func isKind(err error, k contract.Kind) bool {
	var known *llm.Error
	return errors.As(err, &known) && known.Kind == k
}
