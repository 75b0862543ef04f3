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
// same conversation therefore shares a hub, which has at most maxFlights updates
// under way; each covers the requests that no other one covers yet.
const (
	maxFlights = 2
	maxAwaited = 256 // requests in one update
)

type awaitFunc func(ctx context.Context, conversationID string, requestIDs []string) (contract.AwaitResult, error)

type waits struct {
	base  context.Context
	await awaitFunc
	limit time.Duration // of one flight

	mu     sync.Mutex
	closed bool
	hubs   map[string]*hub
	flying sync.WaitGroup
}

type hub struct {
	conversationID string
	waiters        map[string][]chan Answer // by request ID
	covered        map[string]bool          // request IDs that a flight asks for
	flights        int
	setbacks       int // flights in a row that brought nothing
}

func newWaits(base context.Context, await awaitFunc, limit time.Duration) *waits {
	return &waits{base: base, await: await, limit: limit, hubs: map[string]*hub{}}
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

// close starts no more flights and returns when none is under way. The base
// context must have ended.
func (w *waits) close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.flying.Wait()
}

func (w *waits) join(conversationID, requestID string, ch chan Answer) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	h := w.hubs[conversationID]
	if h == nil {
		h = &hub{conversationID: conversationID, waiters: map[string][]chan Answer{}, covered: map[string]bool{}}
		w.hubs[conversationID] = h
	}
	h.waiters[requestID] = append(h.waiters[requestID], ch)
	w.launch(h)
	return true
}

func (w *waits) leave(conversationID, requestID string, ch chan Answer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	h := w.hubs[conversationID]
	if h == nil {
		return
	}
	rest := slices.DeleteFunc(h.waiters[requestID], func(c chan Answer) bool { return c == ch })
	h.waiters[requestID] = rest
	if len(rest) == 0 {
		delete(h.waiters, requestID)
	}
	w.retire(h)
}

// launch starts flights for what is not covered, as many as may be.
func (w *waits) launch(h *hub) {
	if h.flights < maxFlights && !w.closed && w.base.Err() == nil {
		if ids := h.uncovered(); len(ids) > 0 {
			for _, id := range ids {
				h.covered[id] = true
			}
			h.flights++
			w.flying.Go(func() { w.fly(h, ids) })
		}
	}
	w.retire(h)
}

func (w *waits) retire(h *hub) {
	if h.flights == 0 && len(h.waiters) == 0 && w.hubs[h.conversationID] == h {
		delete(w.hubs, h.conversationID)
	}
}

func (h *hub) uncovered() []string {
	var ids []string
	for id := range h.waiters {
		if !h.covered[id] {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids[:min(len(ids), maxAwaited)]
}

// fly asks once and lands.
func (w *waits) fly(h *hub, ids []string) {
	ctx, cancel := context.WithTimeout(w.base, w.limit)
	defer cancel()
	res, err := w.await(ctx, h.conversationID, ids)
	again := errors.Is(err, ErrAgain) || ctx.Err() != nil
	setback := (again || err == nil) && len(res.Settled) == 0
	if setback {
		w.pause(h)
	}
	if again {
		err = nil
	}
	w.land(h, ids, res, err, setback)
}

const (
	firstPause = 10 * time.Millisecond
	maxPause   = time.Second
)

// pause keeps a flight that brought nothing from being repeated at once.
func (w *waits) pause(h *hub) {
	w.mu.Lock()
	d := min(firstPause<<min(h.setbacks, 10), maxPause)
	w.mu.Unlock()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-w.base.Done():
	}
}

func (w *waits) land(h *hub, ids []string, res contract.AwaitResult, err error, setback bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	h.flights--
	h.setbacks++
	if !setback {
		h.setbacks = 0
	}
	for _, id := range ids {
		delete(h.covered, id)
		if err != nil {
			h.deliver(id, Answer{Err: err})
		}
	}
	for _, r := range res.Settled {
		h.deliver(r.ID, Answer{Settlement: Settlement{r, res.Conversation}})
	}
	w.launch(h)
}

func (h *hub) deliver(id string, a Answer) {
	for _, ch := range h.waiters[id] {
		ch <- a // has room for the only value it ever gets
	}
	delete(h.waiters, id)
}
