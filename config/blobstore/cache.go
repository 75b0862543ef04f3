package blobstore

import (
	"container/list"
	"slices"
	"sync"
	"time"

	"agent-stop-and-go/workflows/contract"
)

// cache keeps the values used last, and results computed from them, up to a number of bytes.
// It copies stored values in and out, so callers may change theirs.
type cache struct {
	mu     sync.Mutex
	limit  int
	size   int
	order  *list.List // front: used last
	values map[cacheKey]*list.Element
}

// cacheKey identifies a stored value by its sum alone, or a result computed from it.
type cacheKey struct {
	sum  string
	size int64
	kind string
}

type entry struct {
	key      cacheKey
	size     int
	data     []byte // of a stored value
	stamp    stamp  // of the stored value when it was verified
	computed any
}

// stamp changes whenever a stored value is written.
type stamp struct {
	time time.Time
	size int64
}

func (s stamp) equal(other stamp) bool { return s.size == other.size && s.time.Equal(other.time) }

func newCache(limit int) *cache {
	return &cache{limit: limit, order: list.New(), values: map[cacheKey]*list.Element{}}
}

// has reports whether the cache has the value, and the stored value was verified with this
// stamp.
func (c *cache) has(sum string, found stamp) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.values[cacheKey{sum: sum}]
	return ok && e.Value.(*entry).stamp.equal(found)
}

func (c *cache) get(sum string) ([]byte, bool) {
	e := c.find(cacheKey{sum: sum})
	if e == nil {
		return nil, false
	}
	return slices.Clone(e.data), true
}

// find returns an entry or nil. Only the stamp of an entry ever changes.
func (c *cache) find(key cacheKey) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.values[key]
	if !ok {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(*entry)
}

// add stores a copy of data, unless it would fill more than a quarter of the cache. For a
// value that is in the cache it only updates the stamp.
func (c *cache) add(sum string, data []byte, found stamp) {
	e := &entry{key: cacheKey{sum: sum}, size: len(data), data: data, stamp: found}
	if c.fits(e) {
		e.data = slices.Clone(data)
		c.insert(e)
	}
}

func (c *cache) fits(e *entry) bool { return e.size <= c.limit/4 }

// insert adds an entry. If there is one with the same key, only its stamp is updated.
func (c *cache) insert(e *entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known, ok := c.values[e.key]; ok {
		known.Value.(*entry).stamp = e.stamp
		return
	}
	c.values[e.key] = c.order.PushFront(e)
	for c.size += e.size; c.size > c.limit; {
		oldest := c.order.Remove(c.order.Back()).(*entry)
		delete(c.values, oldest.key)
		c.size -= oldest.size
	}
}

// computed returns a result computed from a value, or nil.
func (c *cache) computed(b contract.Blob, kind string) any {
	if e := c.find(cacheKey{b.SHA256, b.Size, kind}); e != nil {
		return e.computed
	}
	return nil
}

func (c *cache) addComputed(b contract.Blob, kind string, v any, size int) {
	if e := (&entry{key: cacheKey{b.SHA256, b.Size, kind}, size: size, computed: v}); c.fits(e) {
		c.insert(e)
	}
}
