package blobstore

import (
	"container/list"
	"slices"
	"sync"
	"time"

	"agent-stop-and-go/workflows/contract"
)

// cache keeps the values used last, up to a number of bytes. It copies bytes in and out, so
// callers may change theirs.
type cache struct {
	mu     sync.Mutex
	limit  int
	size   int
	order  *list.List // front: used last
	values map[string]*list.Element
}

type entry struct {
	sum   string
	data  []byte
	stamp stamp // of the stored value when it was verified
	value any   // its decoded form, or nil
}

// decodedSize is the estimated size of a decoded value relative to its bytes.
const decodedSize = 2

// size returns how many bytes of the cache the entry takes.
func (e *entry) size() int {
	if e.value == nil {
		return len(e.data)
	}
	return (1 + decodedSize) * len(e.data)
}

// stamp changes whenever a stored value is written.
type stamp struct {
	time time.Time
	size int64
}

func (s stamp) equal(other stamp) bool { return s.size == other.size && s.time.Equal(other.time) }

func newCache(limit int) *cache {
	return &cache{limit: limit, order: list.New(), values: map[string]*list.Element{}}
}

// has reports whether the cache has the value, and the stored value was verified with this
// stamp.
func (c *cache) has(sum string, found stamp) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.values[sum]
	return ok && e.Value.(*entry).stamp.equal(found)
}

func (c *cache) get(sum string) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.values[sum]
	if !ok {
		return nil, false
	}
	c.order.MoveToFront(e)
	return slices.Clone(e.Value.(*entry).data), true
}

// add stores a copy of data, unless it would fill more than a quarter of the cache. For a
// value that is in the cache it only updates the stamp.
func (c *cache) add(sum string, data []byte, found stamp) {
	if len(data) > c.limit/4 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.values[sum]; ok {
		e.Value.(*entry).stamp = found
		return
	}
	c.values[sum] = c.order.PushFront(&entry{sum: sum, data: slices.Clone(data), stamp: found})
	c.size += len(data)
	c.shrink()
}

func (c *cache) shrink() {
	for c.size > c.limit {
		e := c.order.Remove(c.order.Back()).(*entry)
		delete(c.values, e.sum)
		c.size -= e.size()
	}
}

// decoded returns the decoded form of a value, or nil.
func (c *cache) decoded(b contract.Blob) any {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.values[b.SHA256]
	if !ok || int64(len(e.Value.(*entry).data)) != b.Size {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(*entry).value
}

// addDecoded keeps the decoded form of a value as long as the value.
func (c *cache) addDecoded(sum string, value any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.values[sum]
	if !ok {
		return
	}
	kept := e.Value.(*entry)
	c.size -= kept.size()
	kept.value = value
	c.size += kept.size()
	c.shrink()
}
