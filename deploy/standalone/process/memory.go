package process

import (
	"math"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

const (
	// gcPercent suits an embedded server, which allocates much and keeps little: with fewer
	// collections it runs about 20 % more turns.
	gcPercent = 400
	// memoryLimit bounds the memory that this takes. The pages of the program itself, about 140
	// MiB, are not included; the system may drop them at any time.
	memoryLimit = 176 << 20

	limitPace = time.Second
)

// LimitMemory sets how the Go runtime of this process collects garbage. GOGC and GOMEMLIMIT of
// the environment take precedence. If live memory grows beyond the limit, the limit is raised,
// so that the process does not spend its time collecting.
func LimitMemory(getenv func(string) string) (stop func()) {
	if getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	debug.SetMemoryLimit(memoryLimit)
	done := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() { adjustLimit(done) })
	return func() {
		close(done)
		running.Wait()
		debug.SetMemoryLimit(math.MaxInt64)
	}
}

func adjustLimit(done <-chan struct{}) {
	tick := time.NewTicker(limitPace)
	defer tick.Stop()
	now := int64(memoryLimit)
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		if wanted := limitFor(liveBytes()); wanted != now {
			now = wanted
			debug.SetMemoryLimit(now)
		}
	}
}

// limitFor returns the limit for the given number of live bytes: twice as much, in steps of 16
// MiB, but at least memoryLimit.
func limitFor(live uint64) int64 {
	const step = 16 << 20
	return max(memoryLimit, int64((2*live+step-1)/step*step))
}

// liveBytes returns the bytes that survived the last collection, and those that collections do
// not free.
func liveBytes() (sum uint64) {
	samples := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"},
		{Name: "/memory/classes/heap/stacks:bytes"},
		{Name: "/memory/classes/metadata/other:bytes"},
		{Name: "/memory/classes/metadata/mspan/inuse:bytes"},
	}
	metrics.Read(samples)
	for _, s := range samples {
		if s.Value.Kind() == metrics.KindUint64 {
			sum += s.Value.Uint64()
		}
	}
	return sum
}
