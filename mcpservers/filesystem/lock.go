package filesystem

import (
	"context"
	"slices"
	"sync"
)

// locks serializes calls that write the same file. The zero value is ready to use.
type locks struct {
	mu   sync.Mutex
	held map[string]*lock
}

type lock struct {
	free  chan struct{} // holds one token while the lock is free
	users int
}

// take acquires the locks of all places, in an order that cannot deadlock, or returns when ctx
// ends. The returned function releases them.
func (l *locks) take(ctx context.Context, places ...string) (release func(), err error) {
	slices.Sort(places)
	places = slices.Compact(places)
	var taken []string
	release = func() {
		for _, place := range taken {
			l.enter(place).free <- struct{}{}
			l.leave(place, 2)
		}
	}
	for _, place := range places {
		select {
		case <-l.enter(place).free:
			taken = append(taken, place)
		case <-ctx.Done():
			l.leave(place, 1)
			release()
			return nil, ctx.Err()
		}
	}
	return release, nil
}

func (l *locks) enter(place string) *lock {
	l.mu.Lock()
	defer l.mu.Unlock()
	found := l.held[place]
	if found == nil {
		if l.held == nil {
			l.held = map[string]*lock{}
		}
		found = &lock{free: make(chan struct{}, 1)}
		found.free <- struct{}{}
		l.held[place] = found
	}
	found.users++
	return found
}

func (l *locks) leave(place string, times int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if found := l.held[place]; found != nil {
		if found.users -= times; found.users == 0 {
			delete(l.held, place)
		}
	}
}
