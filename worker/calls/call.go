package calls

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/workflows/contract/ticket"
)

// call is a call of an activity's function, which runs independently of the activities that
// wait for it.
type call struct {
	id      string
	began   time.Time
	input   any
	task    *task
	over    context.Context    // ends when the call is cancelled or has ended
	cancel  context.CancelFunc // ends over
	taken   bool               // joined by an activity, or never will be; guarded by the table
	settled chan struct{}      // closed when taken is set

	done     chan struct{} // closed when the fields below are set
	result   any
	err      error
	panicked any

	mu      sync.Mutex
	joined  context.Context // context of the activity that has joined
	beaten  bool
	details []any // of the last heartbeat
}

type callKey struct{}

func newCall(id string, k *task) *call {
	c := &call{id: id, began: time.Now(), task: k, settled: make(chan struct{}), done: make(chan struct{})}
	c.over, c.cancel = context.WithCancel(context.Background())
	return c
}

// Start returns the local activity that starts a call. The activity returns the call's result,
// or hands the call over.
func Start[In, Out any](t *Table, method func(context.Context, In) (Out, error)) func(context.Context, ticket.Start[In]) (ticket.Started[Out], error) {
	return func(ctx context.Context, in ticket.Start[In]) (ticket.Started[Out], error) {
		if in.Once != nil && !t.startsOnce() {
			return ticket.Started[Out]{Ticket: &ticket.Ticket{}}, nil
		}
		c, made := t.begin(activity.GetInfo(ctx), in.Task, in.Input)
		if c == nil {
			return ticket.Started[Out]{Ticket: &ticket.Ticket{}}, nil
		}
		if !made {
			go c.run(ctx, func(ctx context.Context) (any, error) { return method(ctx, in.Input) })
		}
		if !c.await(ctx, in.Once != nil) {
			if !made {
				time.AfterFunc(keep, func() { t.expire(c) })
			}
			return ticket.Started[Out]{Ticket: t.ticket(c)}, nil
		}
		t.remove(c)
		if in.Once != nil && c.err == nil {
			time.AfterFunc(holdUnnoticed, c.task.release) // its result is soon in the history
		}
		out, _ := c.result.(Out)
		return ticket.Started[Out]{Result: &out, Once: in.Once}, c.err
	}
}

// Join returns the regular activity. If its activity ID is a ticket, it joins that call;
// otherwise it calls method.
func Join[In, Out any](t *Table, method func(context.Context, In) (Out, error)) func(context.Context, In) (Out, error) {
	return func(ctx context.Context, in In) (Out, error) {
		c := t.take(activity.GetInfo(ctx).ActivityID)
		if c == nil {
			return method(ctx, in)
		}
		defer t.remove(c)
		result, err := c.join(ctx)
		out, _ := result.(Out)
		return out, err
	}
}

// run runs a call in a context of its own. The call does not refer to that context, because the
// values of the local activity have all of its workflow, and a call is kept when it has ended.
func (c *call) run(local context.Context, method func(context.Context) (any, error)) {
	defer close(c.done)
	defer c.cancel()
	ctx, cancel := c.context(local)
	defer cancel()
	defer context.AfterFunc(c.over, cancel)()
	defer func() {
		if c.panicked = recover(); c.panicked != nil {
			activity.GetLogger(ctx).Error("a call has crashed", "panic", c.panicked, "stack", string(debug.Stack()))
		}
	}()
	c.result, c.err = method(ctx)
}

// context returns a context with the values and the deadline of a local activity, but without its
// cancellation.
func (c *call) context(local context.Context) (context.Context, context.CancelFunc) {
	ctx := context.WithValue(context.WithoutCancel(local), callKey{}, c)
	if deadline, ok := local.Deadline(); ok {
		return context.WithDeadline(ctx, deadline)
	}
	return context.WithCancel(ctx)
}

// await waits for the end of a call while its workflow task may be held, and reports whether
// the local activity has its result. A failure that the server may repeat is no result, nor is any
// of a call that is made once: the activity that joins the call fails with it.
func (c *call) await(ctx context.Context, once bool) bool {
	timer := time.NewTimer(time.Until(c.task.until))
	defer timer.Stop()
	select {
	case <-c.done:
	case <-c.task.released:
	case <-timer.C:
	case <-ctx.Done(): // the workflow has cancelled it
		c.cancel()
		<-c.done
		return true
	}
	return c.hasEnded() && !c.repeatable() && (!once || c.err == nil)
}

func (c *call) hasEnded() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

func (c *call) repeatable() bool {
	var known *temporal.ApplicationError
	permanent := errors.As(c.err, &known) && known.NonRetryable()
	return c.panicked != nil || c.err != nil && !permanent
}

// join waits for the end of a call in a regular activity. The end of the activity ends the
// call.
func (c *call) join(ctx context.Context) (any, error) {
	defer c.beatThrough(ctx)()
	select {
	case <-c.done:
	case <-ctx.Done():
		c.cancel()
		<-c.done
	}
	if c.panicked != nil {
		panic(c.panicked)
	}
	return c.result, c.err
}
