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

// acquire acquires the locks of all paths, in an order that cannot deadlock, or returns when ctx
// ends. The returned function releases them.
func (l *fileLocks) acquire(ctx context.Context, paths ...string) (release func(), err error) {
	slices.Sort(paths)
	paths = slices.Compact(paths)
	var locked []string
	release = func() {
		for _, path := range locked {
			l.enter(path).free <- struct{}{}
			l.leave(path, 2)
		}
	}
	for _, path := range paths {
		select {
		case <-l.enter(path).free:
			locked = append(locked, path)
		case <-ctx.Done():
			l.leave(path, 1)
			release()
			return nil, ctx.Err()
		}
	}
	return release, nil
}

func (l *fileLocks) enter(path string) *fileLock {
	l.mu.Lock()
	defer l.mu.Unlock()
	found := l.byPath[path]
	if found == nil {
		if l.byPath == nil {
			l.byPath = map[string]*fileLock{}
		}
		found = &fileLock{free: make(chan struct{}, 1)}
		found.free <- struct{}{}
		l.byPath[path] = found
	}
	found.users++
	return found
}

func (l *fileLocks) leave(path string, times int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if found := l.byPath[path]; found != nil {
		if found.users -= times; found.users == 0 {
			delete(l.byPath, path)
		}
	}
}
