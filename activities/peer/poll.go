package peer

import (
	"context"
	"errors"
	"time"

	"agent-stop-and-go/workflows/contract"
)

// The time between two looks at a task, which doubles.
const (
	firstPause = 250 * time.Millisecond
	lastPause  = 5 * time.Second
)

// poll waits until a task needs no more waiting, or ctx ends. Where the agent
// streams it listens; what it reports is always what a look at the task has shown,
// as a stream that was joined late may leave out its beginning. What passes is
// waited for too; last is the task when nothing more could be learned.
func (x *session) poll(ctx context.Context, last *task) (*task, error) {
	x.msg.TaskID = last.ID
	seen := last.Status.State != ""
	heard := false // that there is something to see, which a look did not show
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

// stillWorking is a task that is known to exist and of which no end is known. One of
// which nothing is known is an error.
func (x *session) stillWorking(last *task, seen bool, err error) (*task, error) {
	if !seen {
		return nil, err
	}
	last.Status.State = state(contract.TaskWorking)
	return last, nil
}

// join listens to a task until it needs no more waiting, which it reports.
func (x *session) join(ctx context.Context) bool {
	if !x.endpoint.streaming {
		return false
	}
	_, done, err := x.follow(x.stream(ctx, methods[x.endpoint.protocol].subscribe, x.taskParams(x.msg.TaskID)))
	if wire := new(wireError); err != nil && !errors.As(err, &wire) {
		x.endpoint.streaming = false // from now on it is asked
	}
	return done
}

func (x *session) pause(ctx context.Context, d time.Duration) { x.agent.opts.Pause(ctx, d) }
