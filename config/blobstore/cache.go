package blobstore

import (
	"container/list"
	"slices"
	"sync"
)

// cache keeps the values that were used last, up to a number of bytes. It takes
// and gives copies: callers may change what they hold.
type cache struct {
	mu     sync.Mutex
	limit  int
	size   int
	order  *list.List // front: used last
	values map[string]*list.Element
}

type entry struct {
	sum  string
	data []byte
}

func newCache(limit int) *cache {
	return &cache{limit: limit, order: list.New(), values: map[string]*list.Element{}}
}

func (c *cache) has(sum string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.values[sum]
	return ok
}

func (c *cache) get(sum string) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.values[sum]
	if !ok {
		return nil, false
	}
	c.order.MoveToFront(e)
	return slices.Clone(e.Value.(entry).data), true
}

// add keeps a copy of data, unless it alone would fill a quarter of the cache.
func (c *cache) add(sum string, data []byte) {
	if len(data) > c.limit/4 {
		return
	}
	data = slices.Clone(data)
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.values[sum]; ok {
		return
	}
	c.values[sum] = c.order.PushFront(entry{sum, data})
	c.size += len(data)
	for c.size > c.limit {
		oldest := c.order.Back()
		e := c.order.Remove(oldest).(entry)
		delete(c.values, e.sum)
		c.size -= len(e.data)
	}
}
