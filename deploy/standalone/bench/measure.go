package main

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// turner runs one turn and returns with its answer.
type turner interface{ turn(context.Context) error }

// each times n calls, one after the other.
func each(n int, f func() error) ([]time.Duration, error) {
	times := make([]time.Duration, 0, n)
	for range n {
		start := time.Now()
		if err := f(); err != nil {
			return times, err
		}
		times = append(times, time.Since(start))
	}
	return times, nil
}

// flow is the result of many clients.
type flow struct {
	turns   int64
	took    time.Duration
	cpu     time.Duration // of the whole process, server included
	slowest time.Duration // turn
}

func (f flow) perSecond() float64 { return float64(f.turns) / f.took.Seconds() }

func (f flow) cpuPerTurn() time.Duration { return f.cpu / time.Duration(max(f.turns, 1)) }

func (f flow) plus(g flow) flow {
	return flow{f.turns + g.turns, f.took + g.took, f.cpu + g.cpu, max(f.slowest, g.slowest)}
}

// together runs turns of all clients concurrently for a while.
func together(ctx context.Context, clients []turner, busy time.Duration) (flow, error) {
	var turns atomic.Int64
	var group sync.WaitGroup
	errs, slowest := make([]error, len(clients)), make([]time.Duration, len(clients))
	start, cpu := time.Now(), cpuTime()
	for i, c := range clients {
		group.Go(func() {
			for time.Since(start) < busy && errs[i] == nil {
				began := time.Now()
				if errs[i] = c.turn(ctx); errs[i] == nil {
					turns.Add(1)
					slowest[i] = max(slowest[i], time.Since(began))
				}
			}
		})
	}
	group.Wait()
	return flow{turns.Load(), time.Since(start), cpuTime() - cpu, slices.Max(slowest)}, errors.Join(errs...)
}

// cpuTime returns the processor time that this process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func quantile(times []time.Duration, q float64) time.Duration {
	if len(times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(times))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}
