package service

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"agent-stop-and-go/workflows/contract"
)

// A workflow may have ten updates in flight. Whoever waits for an answer of the
// same conversation therefore shares a queue, which has at most maxUpdates
// under way; each asks for the requests that no other one asks for yet.
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

// queue is who waits for answers of one conversation.
type queue struct {
	conversationID string
	waiters        map[string][]chan Answer // by request ID
	asked          map[string]bool          // request IDs that an update asks for
	updates        int                      // under way
	fruitless      int                      // updates in a row that brought nothing
}

func newWaits(base context.Context, await awaitFunc, limit time.Duration) *waits {
	return &waits{base: base, await: await, limit: limit, queues: map[string]*queue{}}
}

// wait returns when the request has settled, the context ends, or the service
// closes (ErrClosing).
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

// close starts no more updates and returns when none is under way. The base
// context must have ended.
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
		q = &queue{conversationID: conversationID, waiters: map[string][]chan Answer{}, asked: map[string]bool{}}
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

// start starts updates for the requests that none asks for, as many as may be.
func (w *waits) start(q *queue) {
	if q.updates < maxUpdates && !w.closed && w.base.Err() == nil {
		if ids := q.unasked(); len(ids) > 0 {
			for _, id := range ids {
				q.asked[id] = true
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

func (q *queue) unasked() []string {
	var ids []string
	for id := range q.waiters {
		if !q.asked[id] {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids[:min(len(ids), maxAwaited)]
}

// update asks once and delivers what it brought.
func (w *waits) update(q *queue, ids []string) {
	ctx, cancel := context.WithTimeout(w.base, w.limit)
	defer cancel()
	res, err := w.await(ctx, q.conversationID, ids)
	again := errors.Is(err, ErrAgain) || ctx.Err() != nil
	fruitless := (again || err == nil) && len(res.Settled) == 0
	if fruitless {
		w.backOff(q)
	}
	if again {
		err = nil
	}
	w.finish(q, ids, res, err, fruitless)
}

const (
	firstPause = 10 * time.Millisecond
	maxPause   = time.Second
)

// backOff keeps an update that brought nothing from being repeated at once.
func (w *waits) backOff(q *queue) {
	w.mu.Lock()
	d := min(firstPause<<min(q.fruitless, 10), maxPause)
	w.mu.Unlock()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-w.base.Done():
	}
}

func (w *waits) finish(q *queue, ids []string, res contract.AwaitResult, err error, fruitless bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	q.updates--
	q.fruitless++
	if !fruitless {
		q.fruitless = 0
	}
	for _, id := range ids {
		delete(q.asked, id)
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
		ch <- a // has room for the only value it ever gets
	}
	delete(q.waiters, id)
}
