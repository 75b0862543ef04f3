package service

import (
	"context"
	"sync"

	"agent-stop-and-go/workflows/contract"
)

// keyedLock is a lock for each key. The zero value is ready to use.
type keyedLock struct {
	mu    sync.Mutex
	byKey map[string]*heldLock
}

type heldLock struct {
	free  chan struct{} // holds a token while the lock is free
	users int           // callers that hold the lock or wait for it
}

// lock waits for the lock of a key. It fails with KindBusy if too many callers wait, and with
// the context's error when that ends.
func (l *keyedLock) lock(ctx context.Context, key string) (unlock func(), err error) {
	h, err := l.join(key)
	if err != nil {
		return nil, err
	}
	select {
	case <-h.free:
		return func() { h.free <- struct{}{}; l.leave(key, h) }, nil
	case <-ctx.Done():
		l.leave(key, h)
		return nil, ctx.Err()
	}
}

func (l *keyedLock) join(key string) (*heldLock, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byKey == nil {
		l.byKey = map[string]*heldLock{}
	}
	h := l.byKey[key]
	if h == nil {
		h = &heldLock{free: make(chan struct{}, 1)}
		h.free <- struct{}{}
		l.byKey[key] = h
	}
	if h.users >= contract.MaxOpenRequests {
		return nil, Errorf(contract.KindBusy, "too many requests at once: %d for one conversation are being looked at", contract.MaxOpenRequests)
	}
	h.users++
	return h, nil
}

func (l *keyedLock) leave(key string, h *heldLock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if h.users--; h.users == 0 {
		delete(l.byKey, key)
	}
}
