// Command bench measures an agent on the embedded server and prints ratios.
//
// Everything runs in this one process on this one machine, with a model and a
// tool that take no time, so what is measured is the cost of the system itself.
// A turn is model, tool, model; the bare workflow beside it runs as many
// activities of the same sort that do nothing. Ratios are taken within one run,
// in alternating rounds, because machines differ and drift.
//
//	bench [-quick]
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"time"

	"agent-stop-and-go/workflows/contract"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	quick := flag.Bool("quick", false, "a tenth of the work: shows that it runs, proves little")
	flag.Parse()
	if err := run(ctx, os.Stdout, *quick); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// size says how much is done.
type size struct {
	rounds        int // of alternating measurements
	turns         int // by one client, in each round
	clients       int
	busy          time.Duration // of all clients, in each round
	reads         int
	conversations int
	paused        int
}

func run(ctx context.Context, out io.Writer, quick bool) error {
	debug.SetGCPercent(400) // as the agent itself does
	n := size{rounds: 5, turns: 60, clients: 100, busy: 6 * time.Second, reads: 1500, conversations: 5000, paused: 1000}
	if quick {
		n = size{rounds: 2, turns: 10, clients: 20, busy: time.Second, reads: 100, conversations: 200, paused: 50}
	}
	table := newTable(out)
	for _, mode := range []contract.Execution{contract.ExecutionRegular, contract.ExecutionLean} {
		if err := within(ctx, mode, func(s *stack) error { return turns(ctx, s, n, table) }); err != nil {
			return fmt.Errorf("turns, %s: %w", mode, err)
		}
	}
	if err := within(ctx, contract.ExecutionRegular, func(s *stack) error { return reads(ctx, s, n, table) }); err != nil {
		return fmt.Errorf("reads: %w", err)
	}
	if err := within(ctx, contract.ExecutionRegular, func(s *stack) error { return lists(ctx, s, n, table) }); err != nil {
		return fmt.Errorf("lists: %w", err)
	}
	if err := within(ctx, contract.ExecutionRegular, func(s *stack) error { return memory(ctx, s, n, table) }); err != nil {
		return fmt.Errorf("memory: %w", err)
	}
	return table.err
}

// within runs f on a fresh stack.
func within(ctx context.Context, mode contract.Execution, f func(*stack) error) (err error) {
	s, err := newStack(ctx, mode)
	if err != nil {
		return err
	}
	defer func() {
		if stopped := s.stop(); err == nil {
			err = stopped
		}
	}()
	return f(s)
}
