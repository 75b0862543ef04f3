package peer

import (
	"context"
	"errors"
	"time"

	"agent-stop-and-go/workflows/contract"
)

// The time between two polls of a task, which doubles.
const (
	firstPause = 250 * time.Millisecond
	lastPause  = 5 * time.Second
)

// poll waits until the task needs no more waiting, or ctx ends. If the agent streams, poll
// subscribes to the task, but it returns only states that a get has returned, because a stream
// that is joined late may lack its beginning. Temporary failures are retried; last is returned
// if no newer state is known.
func (x *session) poll(ctx context.Context, last *task) (*task, error) {
	x.msg.TaskID = last.ID
	seen := last.Status.State != ""
	heard := false // an event has announced a state that no get has returned yet
	for wait := firstPause; ; wait = min(2*wait, lastPause) {
		now, err := x.get(ctx)
		switch {
		case err == nil && !now.running():
			return now, nil
		case err == nil:
			last, seen = now, true
		case ctx.Err() == nil && !isTemporary(err):
			return nil, err
		case ctx.Err() != nil || !seen:
			return x.stillWorking(last, seen, err)
		}
		if heard = !heard && x.join(ctx); heard {
			continue
		}
		if x.pause(ctx, wait); ctx.Err() != nil {
			return x.stillWorking(last, seen, nil)
		}
	}
}

// stillWorking returns the last known state of a task that has not ended. If no state is known,
// err is returned.
func (x *session) stillWorking(last *task, seen bool, err error) (*task, error) {
	if !seen {
		return nil, err
	}
	last.Status.State = state(contract.TaskWorking)
	return last, nil
}

// join subscribes to a task until it needs no more waiting, and reports whether that was seen.
func (x *session) join(ctx context.Context) bool {
	if !x.endpoint.streaming {
		return false
	}
	_, done, err := x.follow(x.stream(ctx, methods[x.endpoint.protocol].subscribe, x.taskParams(x.msg.TaskID)))
	if wire := new(wireError); err != nil && !errors.As(err, &wire) {
		x.endpoint.streaming = false // from now on the task is polled
	}
	return done
}

func (x *session) pause(ctx context.Context, d time.Duration) { x.agent.opts.Pause(ctx, d) }
