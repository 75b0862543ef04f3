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

// watch waits until a task needs no more waiting, or ctx ends. Where the agent
// streams it listens; what it reports is always what a look at the task has shown,
// as a stream that was joined late may leave out its beginning. What passes is
// waited for too; last is the task when nothing more could be learned.
func (x *exchange) watch(ctx context.Context, last *task) (*task, error) {
	x.m.TaskID = last.ID
	seen := last.Status.State != ""
	heard := false // that there is something to see, which a look did not show
	for wait := firstPause; ; wait = min(2*wait, lastPause) {
		now, err := x.get(ctx)
		switch {
		case err == nil && !now.running():
			return now, nil
		case err == nil:
			last, seen = now, true
		case ctx.Err() == nil && !passing(err):
			return nil, err
		case ctx.Err() != nil || !seen:
			return x.atWork(last, seen, err)
		}
		if heard = !heard && x.join(ctx); heard {
			continue
		}
		if x.rest(ctx, wait); ctx.Err() != nil {
			return x.atWork(last, seen, nil)
		}
	}
}

// atWork is a task that is known to exist and of which no end is known. One of
// which nothing is known is an error.
func (x *exchange) atWork(last *task, seen bool, err error) (*task, error) {
	if !seen {
		return nil, err
	}
	last.Status.State = state(contract.TaskWorking)
	return last, nil
}

// join listens to a task until it needs no more waiting, which it reports.
func (x *exchange) join(ctx context.Context) bool {
	if !x.streaming {
		return false
	}
	_, done, err := x.follow(x.stream(ctx, methods[x.protocol].subscribe, x.naming(x.m.TaskID)))
	if wire := new(wireError); err != nil && !errors.As(err, &wire) {
		x.streaming = false // from now on it is asked
	}
	return done
}

func (x *exchange) rest(ctx context.Context, d time.Duration) { x.opts.Pause(ctx, d) }
