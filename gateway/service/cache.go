package service

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

const loadTimeout = 15 * time.Second

// cache keeps one value. Concurrent callers share one load, which takes at most loadTimeout
// and continues if they leave; errors are not kept. A value younger than fresh is returned. A
// value younger than fresh+stale is returned too, and loaded again in the background.
type cache[T any] struct {
	load  func(context.Context) (T, error)
	fresh time.Duration
	stale time.Duration
	now   func() time.Time

	group  singleflight.Group
	mu     sync.Mutex
	value  T
	at     time.Time
	loaded bool
}

// currentCache keeps a value that changes often. It mostly serves concurrent callers.
func currentCache[T any](load func(context.Context) (T, error), now func() time.Time) *cache[T] {
	return &cache[T]{load: load, fresh: 2 * time.Second, now: now}
}

// listCache keeps a worker's list.
func listCache[T any](load func(context.Context) (T, error), now func() time.Time) *cache[T] {
	return &cache[T]{load: load, fresh: 5 * time.Second, stale: time.Minute, now: now}
}

func (c *cache[T]) get(ctx context.Context) (T, error) {
	value, age, loaded := c.peek()
	if loaded && age < c.fresh {
		return value, nil
	}
	loading := c.group.DoChan("", c.refresh)
	if loaded && age < c.fresh+c.stale {
		return value, nil
	}
	select {
	case r := <-loading:
		value, _ := r.Val.(T)
		return value, r.Err
	case <-ctx.Done():
		var zero T
		return zero, ctx.Err()
	}
}

func (c *cache[T]) peek() (value T, age time.Duration, loaded bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.value, c.now().Sub(c.at), c.loaded
}

func (c *cache[T]) refresh() (any, error) {
	if value, age, loaded := c.peek(); loaded && age < c.fresh { // loaded since the caller checked
		return value, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), loadTimeout)
	defer cancel()
	var value T
	err := Guard(func() (err error) { // a panic here would end the process
		value, err = c.load(ctx)
		return err
	})
	if err != nil {
		return value, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.value, c.at, c.loaded = value, c.now(), true
	return value, nil
}
