package rates

import (
	"context"
	"errors"
	"sync"
	"time"

	"agent-stop-and-go/workflows/contract/rates"
)

// takeTimeout bounds an update. Without an answer no call is made.
const takeTimeout = 10 * time.Second

// batches send the takes for a workflow in one update after another: a workflow admits few updates
// at a time.
type batches struct {
	mu    sync.Mutex
	queue map[string][]*request // by workflow; an entry means that somebody sends for it
}

// request is a take that waits for its outcome.
type request struct {
	take rates.Take
	done chan struct{}
	out  rates.Outcome
	err  error
}

// take returns the outcome of a take. If ctx ends before, the call may count.
func (b *batches) take(ctx context.Context, c Counter, id string, in rates.Input, t rates.Take) (rates.Outcome, error) {
	r := &request{take: t, done: make(chan struct{})}
	b.mu.Lock()
	if b.queue == nil {
		b.queue = map[string][]*request{}
	}
	_, sending := b.queue[id]
	b.queue[id] = append(b.queue[id], r)
	b.mu.Unlock()
	if !sending {
		go b.send(context.WithoutCancel(ctx), c, id, in)
	}
	select {
	case <-r.done:
		return r.out, r.err
	case <-ctx.Done():
		return rates.Outcome{}, ctx.Err()
	}
}

// send sends what waits for a workflow until nothing does.
func (b *batches) send(ctx context.Context, c Counter, id string, in rates.Input) {
	for {
		b.mu.Lock()
		all := b.queue[id]
		if len(all) == 0 {
			delete(b.queue, id)
			b.mu.Unlock()
			return
		}
		now := all[:min(len(all), rates.MaxTakes)]
		b.queue[id] = append([]*request{}, all[len(now):]...)
		b.mu.Unlock()
		sendBatch(ctx, c, id, in, now)
	}
}

var errShort = errors.New("the workflow that counts has answered for other calls")

func sendBatch(ctx context.Context, c Counter, id string, in rates.Input, batch []*request) {
	ctx, cancel := context.WithTimeout(ctx, takeTimeout)
	defer cancel()
	takes := make([]rates.Take, len(batch))
	for i, r := range batch {
		takes[i] = r.take
	}
	out, err := c.Take(ctx, id, in, takes)
	if err == nil && len(out) != len(batch) {
		err = errShort
	}
	for i, r := range batch {
		if r.err = err; err == nil {
			r.out = out[i]
		}
		close(r.done)
	}
}
