package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"time"
)

// What an agent may occupy with all its conversations, and by how much that may still
// grow once it has held many.
const (
	pausedGoal   = 350 // MiB
	finishedGoal = 450
	growthGoal   = 25
)

// memory measures what an agent occupies: at first, with many paused approvals, and after many
// finished conversations beside them. The highest value counts, not one after a collection.
func memory(ctx context.Context, s *stack, n size, t *table) error {
	r := &residence{s: s, t: t, heaps: n.heaps}
	if err := r.step("idle", "without conversations", 0, nil); err != nil {
		return err
	}
	err := r.step("paused", fmt.Sprintf("with %d paused approvals", n.paused), pausedGoal, func() error {
		_, err := s.chats(ctx, n.paused, "write")
		return err
	})
	if err != nil {
		return err
	}
	const parts = 4
	var before int
	for i := range parts {
		before = r.peak
		done := n.finished * (i + 1) / parts
		err := r.step(fmt.Sprintf("finished-%d", done), fmt.Sprintf("after %d finished conversations", done), finishedGoal, func() error {
			_, err := s.chats(ctx, n.finished/parts, "go")
			return err
		})
		if err != nil {
			return err
		}
	}
	growth := r.peak - before
	t.value("resident memory, growth in the last quarter", fmt.Sprintf("%d MiB", growth), fmt.Sprintf("≤ %d MiB", growthGoal), growth <= growthGoal)
	return nil
}

// residence is what this process occupies in one step after another.
type residence struct {
	s     *stack
	t     *table
	heaps string
	peak  int // MiB, in the last step
}

// step prints the highest value while f runs. A goal of 0 is none.
func (r *residence) step(name, when string, goal int, f func() error) error {
	peak, err := peakMiB(f)
	if err != nil {
		return err
	}
	r.peak = peak
	text := ""
	if goal > 0 {
		text = fmt.Sprintf("≤ %d MiB", goal)
	}
	r.t.value("resident memory "+when, fmt.Sprintf("%d MiB", peak), text, peak <= goal)
	if r.heaps == "" {
		return nil
	}
	return writeHeap(r.heaps + name)
}

// peakMiB runs f, which may be nil, and returns the most that the process occupied meanwhile.
func peakMiB(f func() error) (peak int, err error) {
	done, failed := make(chan struct{}), error(nil)
	var group sync.WaitGroup
	group.Go(func() {
		defer close(done)
		if f != nil {
			failed = f()
		}
	})
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for running := true; running; {
		select {
		case <-done:
			running = false
		case <-tick.C:
		}
		now, err := residentMiB()
		if err != nil {
			group.Wait()
			return 0, errors.Join(err, failed)
		}
		peak = max(peak, now)
	}
	return peak, failed
}

func writeHeap(file string) error {
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(pprof.Lookup("heap").WriteTo(out, 0), out.Close())
}

// residentMiB is the memory this process occupies.
func residentMiB() (int, error) {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.Atoi(strings.Fields(rest)[0])
			return kib / 1024, err
		}
	}
	return 0, fmt.Errorf("no VmRSS in /proc/self/status")
}
