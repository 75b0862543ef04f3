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
// the environment take precedence. If what is in use leaves little room below the limit, the limit
// is raised, so that the process does not spend its time collecting.
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
		if wanted := limitFor(usedBytes()); wanted != now {
			now = wanted
			debug.SetMemoryLimit(now)
		}
	}
}

// limitFor returns the limit for the given numbers of bytes: room for as many new objects as
// live, beside what collections do not free, in steps of 16 MiB, but at least memoryLimit.
func limitFor(live, fixed uint64) int64 {
	const step = 16 << 20
	return max(memoryLimit, int64((2*live+fixed+step-1)/step*step))
}

// usedBytes returns the bytes that survived the last collection, and those beside the heap's
// objects that count towards the limit and that a collection does not free: stacks, metadata and
// the unused parts of spans. See runtime/debug.SetMemoryLimit.
func usedBytes() (live, fixed uint64) {
	const (
		survived = "/gc/heap/live:bytes"
		total    = "/memory/classes/total:bytes"
		released = "/memory/classes/heap/released:bytes"
		free     = "/memory/classes/heap/free:bytes"
		objects  = "/memory/classes/heap/objects:bytes"
	)
	names := []string{survived, total, released, free, objects}
	samples := make([]metrics.Sample, len(names))
	for i, name := range names {
		samples[i].Name = name
	}
	metrics.Read(samples)
	bytes := map[string]uint64{}
	for _, s := range samples {
		if s.Value.Kind() == metrics.KindUint64 {
			bytes[s.Name] = s.Value.Uint64()
		}
	}
	return bytes[survived], bytes[total] - min(bytes[total], bytes[released]+bytes[free]+bytes[objects])
}
