package store

import (
	"context"
	"sync"
)

// Locks lets calls that change the same file follow one another. The zero value is ready to use.
type Locks struct {
	mu   sync.Mutex
	busy map[string]*turn
}

type turn struct {
	free chan struct{} // has an element while nobody has the turn
	n    int           // calls that have it or wait for it
}

// Lock waits until nobody else has the lock of a name, at most until ctx ends. The caller ends it with unlock.
func (l *Locks) Lock(ctx context.Context, name string) (unlock func(), err error) {
	l.mu.Lock()
	if l.busy == nil {
		l.busy = map[string]*turn{}
	}
	t := l.busy[name]
	if t == nil {
		t = &turn{free: make(chan struct{}, 1)}
		t.free <- struct{}{}
		l.busy[name] = t
	}
	t.n++
	l.mu.Unlock()
	select {
	case <-t.free:
		return func() { t.free <- struct{}{}; l.leave(name, t) }, nil
	case <-ctx.Done():
		l.leave(name, t)
		return nil, ctx.Err()
	}
}

func (l *Locks) leave(name string, t *turn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.n--; t.n == 0 {
		delete(l.busy, name)
	}
}
