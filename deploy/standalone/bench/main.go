// Command bench measures an agent on the embedded server and prints ratios.
//
// Everything runs in this process, except the servers that are compared, agents whose cost or
// memory is measured, and agents that are killed. The model and the tool take no time, so the
// cost of the system itself is measured. A turn is model, tool, model, or the models of a tree;
// the bare workflow runs the same number and kind of activities, which do nothing. Ratios are
// taken within one run, in alternating rounds, because machines differ and drift. The comparison
// of servers, and what became of the goals, are printed at the end.
//
//	bench [-quick] [-only PART] [-peers DIR] [-cpuprofile FILE] [-memprofile PREFIX]
//	bench -components FILE
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/pprof"
	"syscall"
	"time"

	"agent-stop-and-go/config"
	"agent-stop-and-go/deploy/standalone/bench/floor"
	"agent-stop-and-go/deploy/standalone/process"
	"agent-stop-and-go/worker"
	"agent-stop-and-go/workflows/contract"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var o options
	flag.BoolVar(&o.quick, "quick", false, "a tenth of the work: shows that it runs, proves little")
	flag.StringVar(&o.only, "only", "", "measure only this: compare, cost, telemetry, memory, paused (the first steps of memory), tree, reads, rest, lists, length, events, a2a, slow or recovery")
	flag.StringVar(&o.profile, "cpuprofile", "", "write a CPU profile to this file; of the part cost, of its agents, to this file and .list or .approval")
	flag.StringVar(&o.components, "components", "", "print what each component has in this CPU profile of an agent")
	flag.StringVar(&o.heaps, "memprofile", "", "memory: write heap profiles of the agent after each step, to this file and a number")
	flag.StringVar(&o.peers, "peers", "", "compare: measure also the servers that the files in this directory describe")
	flag.StringVar(&o.floor, "floor", "", "be the floor of this kind: what the part compare measures")
	flag.StringVar(&o.agent, "agent", "", "be the agent of this YAML file: what runs in a process of its own")
	flag.Parse()
	if err := o.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	quick                                                 bool
	only, profile, components, heaps, peers, floor, agent string
}

func (o options) run(ctx context.Context) error {
	switch {
	case o.agent != "":
		return profiled(o.profile, func() error { return serve(ctx, o.agent, o.heaps) })
	case o.floor != "":
		return floor.Serve(ctx, o.floor, os.Getenv)
	case o.components != "":
		return printComponents(os.Stdout, o.components)
	case o.only == "cost": // the profile is that of its agents
		return o.measure(ctx, os.Stdout)
	}
	file := o.profile
	o.profile = ""
	return profiled(file, func() error { return o.measure(ctx, os.Stdout) })
}

// size has the amounts of work.
type size struct {
	rounds        int // number of alternating measurements
	turns         int // turns by one client, in each round
	clients       int
	busy          time.Duration // time for all clients, in each round
	reads         int
	conversations int
	paused        int // paused approvals in the part that measures memory
	finished      int
	kills         int
	slow          int    // cancelled calls
	long          int    // turns of a conversation that is long
	heaps         string // prefix of the files for its heap profiles
	profile       string // file for the CPU profiles of the part cost
	peers         string // directory of descriptions
}

// size returns the amounts of work.
func (o options) size() size {
	n := size{rounds: 5, turns: 60, clients: 100, busy: 6 * time.Second, reads: 1500, conversations: 5000, paused: 1000, finished: 20_000, kills: 40, slow: 40, long: 1000}
	if o.quick {
		n = size{rounds: 2, turns: 10, clients: 20, busy: time.Second, reads: 100, conversations: 200, paused: 200, finished: 1000, kills: 4, slow: 8, long: 100}
	}
	n.heaps, n.profile, n.peers = o.heaps, o.profile, o.peers
	return n
}

// measure runs the parts, or only one.
func (o options) measure(ctx context.Context, out io.Writer) error {
	defer process.LimitMemory(os.Getenv)() // like the agent itself
	worker.KeepInMemory(config.Default().Temporal.CacheSize)
	n, t := o.size(), newTable(out)
	if o.only == "paused" {
		o.only, n.finished = "memory", 0
	}
	for _, part := range []struct {
		name string
		run  func(context.Context, *stack, size, *table) error
	}{ // on a stack in the default mode
		{"tree", trees},
		{"reads", reads},
		{"rest", rest},
		{"lists", lists},
		{"length", length},
		{"events", events},
		{"a2a", tasks},
	} {
		if o.only != "" && o.only != part.name {
			continue
		}
		if err := within(ctx, config.Default().Execution, func(s *stack) error { return part.run(ctx, s, n, t) }); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	for _, part := range []struct {
		name string
		run  func(context.Context, size, *table) error
	}{{"compare", compare}, {"cost", costs}, {"telemetry", telemetries}, {"slow", slowCalls}, {"memory", memory}, {"recovery", recovery}} { // on stacks or agents of their own
		if o.only != "" && o.only != part.name {
			continue
		}
		if err := part.run(ctx, n, t); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return t.end()
}

// profiled runs f, with a CPU profile if a file is named.
func profiled(file string, f func() error) error {
	if file == "" {
		return f()
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	if err := pprof.StartCPUProfile(out); err != nil {
		return errors.Join(err, out.Close())
	}
	err = f()
	pprof.StopCPUProfile()
	return errors.Join(err, out.Close())
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
