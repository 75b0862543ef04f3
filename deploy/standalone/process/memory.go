package process

import (
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

const (
	// gcPercent suits an embedded server, which allocates much and keeps little, where a limit of the
	// environment bounds it: with fewer collections it runs about 20 % more turns.
	gcPercent = 400
	// leastHeap is how large the heap may grow before a collection while little lives. Stacks, the
	// unused parts of spans, metadata, SQLite and the program itself come on top.
	leastHeap = 104 << 20
	// garbagePercent is the room for new objects once much lives, in percent of what lives.
	garbagePercent = 70
	// runtimeHeap is what the runtime lets the heap have at GOGC=100, whatever lives, and in proportion
	// with others.
	runtimeHeap = 4 << 20

	pace = time.Second
)

// LimitMemory has the Go runtime of this process collect garbage when the heap has leastHeap, or
// garbagePercent more than lives if that is larger. GOGC and GOMEMLIMIT of the environment take
// precedence: each replaces this. stop restores GOGC.
func LimitMemory(getenv func(string) string) (stop func()) {
	if getenv("GOGC") != "" {
		return func() {}
	}
	if getenv("GOMEMLIMIT") != "" {
		debug.SetGCPercent(gcPercent)
		return func() {}
	}
	before := debug.SetGCPercent(heapNow().percent())
	done := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() { adjust(done) })
	return func() {
		close(done)
		running.Wait()
		debug.SetGCPercent(before)
	}
}

// adjust follows the size of what lives until done is closed.
func adjust(done <-chan struct{}) {
	tick := time.NewTicker(pace)
	defer tick.Stop()
	now := 0
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		if p := heapNow().percent(); p != now {
			now = p
			debug.SetGCPercent(now)
		}
	}
}

// heap has what the runtime knows of its memory, in bytes.
type heap struct {
	live  uint64 // objects that survived the last collection
	roots uint64 // stacks and global variables that it scanned
}

func heapNow() heap {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}, {Name: "/gc/scan/globals:bytes"}}
	metrics.Read(s)
	return heap{live: s[0].Value.Uint64(), roots: s[1].Value.Uint64() + s[2].Value.Uint64()}
}

// percent returns the value of GOGC with which the next collection starts at leastHeap, or with
// garbagePercent of room if that is later. The runtime adds GOGC percent of the live objects and the
// roots to the former (https://go.dev/doc/gc-guide#GOGC).
//
// A memory limit does not do this well. It counts the unused parts of spans as taken, although new
// objects go there: as much as lives after a collection. So a limit must be set with them, and then
// what it allows at the next peak leaves more of them.
func (h heap) percent() int {
	room := max(int64(leastHeap)-int64(h.live), int64(h.live/100*garbagePercent))
	return int(room * 100 / max(int64(h.live+h.roots), runtimeHeap))
}
