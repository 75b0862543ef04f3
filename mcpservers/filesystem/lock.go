package filesystem

import (
	"context"
	"slices"
	"sync"
)

// fileLocks serializes calls that write the same file. The zero value is ready to use.
type fileLocks struct {
	mu     sync.Mutex
	byPath map[string]*fileLock
}

type fileLock struct {
	free  chan struct{} // holds one token while the lock is free
	users int
}

// acquire acquires the locks of all places, in an order that cannot deadlock, or returns when ctx
// ends. The returned function releases them.
func (l *fileLocks) acquire(ctx context.Context, places ...string) (release func(), err error) {
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

func (l *fileLocks) enter(place string) *fileLock {
	l.mu.Lock()
	defer l.mu.Unlock()
	found := l.byPath[place]
	if found == nil {
		if l.byPath == nil {
			l.byPath = map[string]*fileLock{}
		}
		found = &fileLock{free: make(chan struct{}, 1)}
		found.free <- struct{}{}
		l.byPath[place] = found
	}
	found.users++
	return found
}

func (l *fileLocks) leave(place string, times int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if found := l.byPath[place]; found != nil {
		if found.users -= times; found.users == 0 {
			delete(l.byPath, place)
		}
	}
}
