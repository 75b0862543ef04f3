package process_test

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"

	"agent-stop-and-go/deploy/standalone/process"
)

const mib = 1 << 20

// The runtime collects when the heap has live + (live + roots) * GOGC / 100 bytes.
func TestTheHeapMayGrowToTheLeastOrByAShareOfWhatLives(t *testing.T) {
	for _, c := range []struct{ live, roots, goal uint64 }{
		{5, 1, 104}, {20, 12, 104}, {61, 35, 104}, {62, 40, 105}, {100, 40, 170}, {4000, 100, 6800},
	} {
		p := uint64(process.Percent(c.live*mib, c.roots*mib))
		goal := float64(c.live) + float64((c.live+c.roots)*p)/100
		if goal > float64(c.goal)+1 || goal < float64(c.goal)*.97 {
			t.Errorf("%d MiB live, %d of roots: GOGC=%d, a heap of %.1f MiB, want %d", c.live, c.roots, p, goal, c.goal)
		}
	}
	if got := process.Percent(0, 0); got != 2600 { // the runtime lets it have 4 MiB at 100
		t.Errorf("nothing lives: GOGC=%d", got)
	}
}

// What lived when it began is gone by the next collection: that room has to be given to others.
func TestTheRuntimeCollectsAtTheLeastHeap(t *testing.T) {
	lives := make([]byte, 16*mib)
	runtime.GC()
	defer process.LimitMemory(func(string) string { return "" })()
	runtime.KeepAlive(lives)
	var got uint64
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		runtime.GC()
		goal := []metrics.Sample{{Name: "/gc/heap/goal:bytes"}}
		metrics.Read(goal)
		if got = goal[0].Value.Uint64(); got > process.LeastHeap*9/10 && got < process.LeastHeap*11/10 {
			return
		}
	}
	t.Errorf("the next collection is at %d MiB, want about %d", got/mib, process.LeastHeap/mib)
}

func TestTheEnvironmentGoesBeforeTheHeap(t *testing.T) {
	percent := func() int {
		p := debug.SetGCPercent(100)
		debug.SetGCPercent(p)
		return p
	}
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	for _, c := range []struct {
		env   map[string]string
		wants func(int) bool
		after int
	}{
		{nil, func(p int) bool { return p > 100 }, 100},
		{map[string]string{"GOMEMLIMIT": "1GiB"}, func(p int) bool { return p == 400 }, 400},
		{map[string]string{"GOGC": "50"}, func(p int) bool { return p == 100 }, 100},
		{map[string]string{"GOGC": "50", "GOMEMLIMIT": "1GiB"}, func(p int) bool { return p == 100 }, 100},
	} {
		debug.SetGCPercent(100)
		stop := process.LimitMemory(func(name string) string { return c.env[name] })
		if got := percent(); !c.wants(got) {
			t.Errorf("%v: GOGC=%d", c.env, got)
		}
		stop()
		if got := percent(); got != c.after {
			t.Errorf("%v: GOGC=%d afterwards, want %d", c.env, got, c.after)
		}
	}
}
