package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// The goals: memory of an agent with all its conversations, and growth after it has had many.
const (
	pausedGoal   = 350 // MiB
	finishedGoal = 450
	growthGoal   = 25
)

// memory measures the resident memory of an agent in its own process, with its server: at
// first, with many paused approvals, and after many finished conversations besides. The peak
// counts, not a value after a collection.
func memory(ctx context.Context, n size, t *table) (err error) {
	dir, err := os.MkdirTemp("", "bench-memory-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	f := newFarEnds(0, 0)
	defer f.close()
	m, err := newMortal(dir, "prompt: "+asTold, f, "-memprofile", n.heaps)
	if err != nil {
		return err
	}
	defer func() {
		if killed := m.kill(); err == nil {
			err = killed
		}
	}()
	if err := m.ready(ctx); err != nil {
		return err
	}
	return (&residence{m: m, t: t, heaps: n.heaps}).grow(ctx, n)
}

// residence measures the resident memory of an agent step by step.
type residence struct {
	m     *mortal
	t     *table
	heaps string // prefix of the profiles of its heap, or ""
	steps int
	peak  int // MiB, in the last step
}

func (r *residence) grow(ctx context.Context, n size) error {
	if err := r.step("without conversations", 0, func() error { return nil }); err != nil {
		return err
	}
	if err := r.chats(ctx, n.paused, "write", fmt.Sprintf("with %d paused approvals", n.paused), pausedGoal); err != nil {
		return err
	}
	if n.finished == 0 {
		return nil
	}
	const parts = 4
	var before int
	for i := range parts {
		before = r.peak
		when := fmt.Sprintf("after %d finished conversations", n.finished*(i+1)/parts)
		if err := r.chats(ctx, n.finished/parts, "look", when, finishedGoal); err != nil {
			return err
		}
	}
	growth := r.peak - before
	r.t.value("resident memory, growth in the last quarter", fmt.Sprintf("%d MiB", growth), fmt.Sprintf("≤ %d MiB", growthGoal), growth <= growthGoal)
	return nil
}

// chats is a step in which conversations start with a message that names a tool.
func (r *residence) chats(ctx context.Context, count int, message, when string, goal int) error {
	return r.step(when, goal, func() error {
		_, err := r.m.chats(ctx, count, message)
		return err
	})
}

// step prints the peak while f runs. 0 means no goal.
func (r *residence) step(when string, goal int, f func() error) error {
	peak, own, err := r.peakMiB(f)
	if err != nil {
		return err
	}
	r.peak = peak
	text := ""
	if goal > 0 {
		text = fmt.Sprintf("≤ %d MiB", goal)
	}
	r.t.value("resident memory "+when, fmt.Sprintf("%d MiB", peak), text, peak <= goal)
	r.t.value("  of that, not pages of the program's file", fmt.Sprintf("%d MiB", own), "", true)
	return r.writeHeap()
}

// writeHeap has the agent write a profile of its heap, if that is wanted, and waits for it.
func (r *residence) writeHeap() error {
	if r.heaps == "" {
		return nil
	}
	r.steps++
	file := r.heaps + strconv.Itoa(r.steps)
	if err := errors.Join(removeOld(file), r.m.cmd.Process.Signal(syscall.SIGUSR1)); err != nil {
		return err
	}
	for range 100 {
		if _, err := os.Stat(file); err == nil {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("no heap profile in %s", file)
}

func removeOld(file string) error {
	if err := os.Remove(file); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// peakMiB runs f and returns the agent's peak memory meanwhile, and what of it is not pages of files.
func (r *residence) peakMiB(f func() error) (peak, own int, err error) {
	done, failed := make(chan struct{}), error(nil)
	var group sync.WaitGroup
	group.Go(func() {
		defer close(done)
		failed = f()
	})
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for running := true; running; {
		select {
		case <-done:
			running = false
		case <-tick.C:
		}
		now, anonymous, err := residentMiB(r.m.cmd.Process.Pid)
		if err != nil {
			group.Wait()
			return 0, 0, errors.Join(err, failed)
		}
		if now > peak {
			peak, own = now, anonymous
		}
	}
	return peak, own, failed
}

// writeHeaps writes a heap profile at each SIGUSR1, to the files prefix1, prefix2 …
func writeHeaps(prefix string) {
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGUSR1)
	for n := 1; ; n++ {
		<-told
		if err := writeHeap(prefix + strconv.Itoa(n)); err != nil {
			fmt.Fprintln(os.Stderr, "bench: agent: heap profile:", err)
		}
	}
}

// writeHeap has a file appear when it is whole.
func writeHeap(file string) error {
	out, err := os.Create(file + ".part")
	if err != nil {
		return err
	}
	if err := errors.Join(pprof.Lookup("heap").WriteTo(out, 0), out.Close()); err != nil {
		return err
	}
	return os.Rename(out.Name(), file)
}

// residentMiB returns the resident memory of a process, and what of it is not pages of files.
func residentMiB(pid int) (all, anonymous int, err error) {
	file := fmt.Sprintf("/proc/%d/status", pid)
	data, err := os.ReadFile(file)
	if err != nil {
		return 0, 0, err
	}
	for name, mib := range map[string]*int{"VmRSS:": &all, "RssAnon:": &anonymous} {
		_, rest, found := strings.Cut(string(data), "\n"+name)
		fields := strings.Fields(rest)
		if !found || len(fields) == 0 {
			return 0, 0, fmt.Errorf("no %s in %s", name, file)
		}
		kib, err := strconv.Atoi(fields[0])
		if err != nil {
			return 0, 0, fmt.Errorf("%s in %s: %w", name, file, err)
		}
		*mib = kib / 1024
	}
	return all, anonymous, nil
}
