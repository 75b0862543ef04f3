package service

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

const loadTimeout = 15 * time.Second

// cache keeps one value. It is loaded once for all who ask, whether or not they
// stay, and within loadTimeout; errors are not kept. While a value is older than fresh
// but not than fresh and stale together, callers get it at once and it is loaded anew
// behind their backs.
type cache[T any] struct {
	load  func(context.Context) (T, error)
	fresh time.Duration
	stale time.Duration
	now   func() time.Time

	group singleflight.Group
	mu    sync.Mutex
	value T
	at    time.Time
	have  bool
}

// currentCache keeps what describes the present, for those who ask at the same time.
func currentCache[T any](load func(context.Context) (T, error), now func() time.Time) *cache[T] {
	return &cache[T]{load: load, fresh: 2 * time.Second, now: now}
}

// listCache keeps what a worker lists.
func listCache[T any](load func(context.Context) (T, error), now func() time.Time) *cache[T] {
	return &cache[T]{load: load, fresh: 5 * time.Second, stale: time.Minute, now: now}
}

func (c *cache[T]) get(ctx context.Context) (T, error) {
	value, age, have := c.peek()
	if have && age < c.fresh {
		return value, nil
	}
	loading := c.group.DoChan("", c.refresh)
	if have && age < c.fresh+c.stale {
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

func (c *cache[T]) peek() (value T, age time.Duration, have bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.value, c.now().Sub(c.at), c.have
}

func (c *cache[T]) refresh() (any, error) {
	if value, age, have := c.peek(); have && age < c.fresh { // loaded since the caller looked
		return value, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), loadTimeout)
	defer cancel()
	var value T
	err := Guard(func() (err error) { // or a panic would end the process
		value, err = c.load(ctx)
		return err
	})
	if err != nil {
		return value, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.value, c.at, c.have = value, c.now(), true
	return value, nil
}
