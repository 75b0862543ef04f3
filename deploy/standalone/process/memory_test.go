package process_test

import (
	"math"
	"runtime/debug"
	"testing"

	"agent-stop-and-go/deploy/standalone/process"
)

func TestTheLimitGrowsWithWhatLives(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct{ live, fixed, want int64 }{
		{0, 0, 176}, {20, 40, 176}, {60, 56, 176}, {60, 57, 192}, {62, 110, 240}, {400, 100, 912}, {4000, 0, 4000 * 2},
	} {
		if got := process.LimitFor(uint64(c.live*mib), uint64(c.fixed*mib)); got != c.want*mib {
			t.Errorf("%d MiB live, %d fixed: limit %d MiB, want %d", c.live, c.fixed, got/mib, c.want)
		}
	}
	if live, fixed := process.UsedBytes(); live == 0 || live > 1<<40 || fixed == 0 || fixed > 1<<40 {
		t.Errorf("%d bytes live, %d fixed", live, fixed)
	}
}

func TestTheEnvironmentGoesBeforeTheLimit(t *testing.T) {
	limit := func() int64 { return debug.SetMemoryLimit(-1) }
	percent := debug.SetGCPercent(100)
	defer debug.SetGCPercent(percent)
	for _, c := range []struct {
		env     map[string]string
		limit   int64
		percent int
	}{
		{nil, 176 << 20, 400},
		{map[string]string{"GOMEMLIMIT": "1GiB"}, math.MaxInt64, 400},
		{map[string]string{"GOGC": "50"}, 176 << 20, 100},
	} {
		stop := process.LimitMemory(func(name string) string { return c.env[name] })
		if got := limit(); got != c.limit {
			t.Errorf("%v: limit %d, want %d", c.env, got, c.limit)
		}
		if got := debug.SetGCPercent(100); got != c.percent {
			t.Errorf("%v: GOGC=%d, want %d", c.env, got, c.percent)
		}
		stop()
		if got := limit(); got != math.MaxInt64 {
			t.Errorf("%v: limit %d afterwards", c.env, got)
		}
	}
}
