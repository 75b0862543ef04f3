package service

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"agent-stop-and-go/workflows/contract"
)

// A workflow may have ten updates in flight. All waiters of a conversation therefore share a
// queue with at most maxUpdates in flight; each update asks for the requests that no other
// one asks for.
const (
	maxUpdates = 2
	maxAwaited = 256 // requests in one update
)

type awaitFunc func(ctx context.Context, conversationID string, requestIDs []string) (contract.AwaitResult, error)

type waits struct {
	base  context.Context
	await awaitFunc
	limit time.Duration // of one update

	mu      sync.Mutex
	closed  bool
	queues  map[string]*queue
	updates sync.WaitGroup
}

// queue contains the waiters of one conversation.
type queue struct {
	conversationID string
	waiters        map[string][]chan Answer // by request ID
	requested      map[string]bool          // IDs in an update that is in flight
	updates        int                      // in flight
	emptyUpdates   int                      // consecutive updates without a result
}

func newWaits(base context.Context, await awaitFunc, limit time.Duration) *waits {
	return &waits{base: base, await: await, limit: limit, queues: map[string]*queue{}}
}

// wait returns when the request has settled, the context ends, or the service closes
// (ErrClosing).
func (w *waits) wait(ctx context.Context, conversationID, requestID string) (Settlement, error) {
	ch := make(chan Answer, 1)
	if !w.join(conversationID, requestID, ch) {
		return Settlement{}, ErrClosing
	}
	defer w.leave(conversationID, requestID, ch)
	select {
	case a := <-ch:
		return a.Settlement, a.Err
	case <-ctx.Done():
		return Settlement{}, ctx.Err()
	case <-w.base.Done():
		return Settlement{}, ErrClosing
	}
}

// once makes a request of its own that waits for one settlement. It fails if that does not
// settle, and when ctx ends or the service closes; the request continues until it is answered or
// the limit has passed, unless the service closes.
func (w *waits) once(ctx context.Context, await func(context.Context) (contract.AwaitResult, error)) (Settlement, error) {
	ch := make(chan Answer, 1)
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return Settlement{}, ErrClosing
	}
	w.updates.Go(func() { ch <- w.awaitOne(context.WithoutCancel(ctx), await) })
	w.mu.Unlock()
	select {
	case a := <-ch:
		return a.Settlement, a.Err
	case <-ctx.Done():
		return Settlement{}, ctx.Err()
	case <-w.base.Done():
		return Settlement{}, ErrClosing
	}
}

func (w *waits) awaitOne(ctx context.Context, await func(context.Context) (contract.AwaitResult, error)) Answer {
	ctx, cancel := context.WithTimeout(ctx, w.limit)
	defer cancel()
	defer context.AfterFunc(w.base, cancel)()
	result, err := await(ctx)
	if err == nil && len(result.Settled) == 0 {
		err = ErrAgain
	}
	if err != nil {
		return Answer{Err: err}
	}
	return Answer{Settlement: Settlement{result.Settled[0], result.Conversation}}
}

// close starts no more updates and waits for those in flight. The base context must have
// ended.
func (w *waits) close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.updates.Wait()
}

func (w *waits) join(conversationID, requestID string, ch chan Answer) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	q := w.queues[conversationID]
	if q == nil {
		q = &queue{conversationID: conversationID, waiters: map[string][]chan Answer{}, requested: map[string]bool{}}
		w.queues[conversationID] = q
	}
	q.waiters[requestID] = append(q.waiters[requestID], ch)
	w.start(q)
	return true
}

func (w *waits) leave(conversationID, requestID string, ch chan Answer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	q := w.queues[conversationID]
	if q == nil {
		return
	}
	rest := slices.DeleteFunc(q.waiters[requestID], func(c chan Answer) bool { return c == ch })
	q.waiters[requestID] = rest
	if len(rest) == 0 {
		delete(q.waiters, requestID)
	}
	w.retire(q)
}

// start starts an update for the requests that no update asks for, if there may be another.
func (w *waits) start(q *queue) {
	if q.updates < maxUpdates && !w.closed && w.base.Err() == nil {
		if ids := q.unrequested(); len(ids) > 0 {
			for _, id := range ids {
				q.requested[id] = true
			}
			q.updates++
			w.updates.Go(func() { w.update(q, ids) })
		}
	}
	w.retire(q)
}

func (w *waits) retire(q *queue) {
	if q.updates == 0 && len(q.waiters) == 0 && w.queues[q.conversationID] == q {
		delete(w.queues, q.conversationID)
	}
}

func (q *queue) unrequested() []string {
	var ids []string
	for id := range q.waiters {
		if !q.requested[id] {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids[:min(len(ids), maxAwaited)]
}

// update sends one update and delivers its results.
func (w *waits) update(q *queue, ids []string) {
	ctx, cancel := context.WithTimeout(w.base, w.limit)
	defer cancel()
	res, err := w.await(ctx, q.conversationID, ids)
	again := errors.Is(err, ErrAgain) || ctx.Err() != nil
	empty := (again || err == nil) && len(res.Settled) == 0
	if empty {
		w.backOff(q)
	}
	if again {
		err = nil
	}
	w.finish(q, ids, res, err, empty)
}

const (
	firstPause = 10 * time.Millisecond
	maxPause   = time.Second
)

// backOff delays the next update after one without a result.
func (w *waits) backOff(q *queue) {
	w.mu.Lock()
	d := min(firstPause<<min(q.emptyUpdates, 10), maxPause)
	w.mu.Unlock()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-w.base.Done():
	}
}

func (w *waits) finish(q *queue, ids []string, res contract.AwaitResult, err error, empty bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	q.updates--
	q.emptyUpdates++
	if !empty {
		q.emptyUpdates = 0
	}
	for _, id := range ids {
		delete(q.requested, id)
		if err != nil {
			q.deliver(id, Answer{Err: err})
		}
	}
	for _, r := range res.Settled {
		q.deliver(r.ID, Answer{Settlement: Settlement{r, res.Conversation}})
	}
	w.start(q)
}

func (q *queue) deliver(id string, a Answer) {
	for _, ch := range q.waiters[id] {
		ch <- a // does not block: capacity 1, one value
	}
	delete(q.waiters, id)
}
