package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"agent-stop-and-go/deploy/standalone/bench/floor"
	"agent-stop-and-go/deploy/standalone/bench/peer"
	"agent-stop-and-go/workflows/contract"
)

// compare measures an agent in each mode, the floors and the peers, in alternating rounds. Each
// runs alone in its own processes, and each turn is a new conversation. The model and the tool
// server run here, and take no time.
func compare(ctx context.Context, n size, t *table) (err error) {
	f := newFarEnds(0, 0)
	defer f.close()
	all, err := contenders(n.peers)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "bench-compare-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	results := make([]result, len(all))
	for range n.rounds {
		for i, p := range all {
			results[i].name = p.Name
			if err := f.run(ctx, p, dir, func(s *peer.Server) error { return results[i].round(ctx, s, n) }); err != nil {
				return err
			}
		}
	}
	for i, p := range all {
		if err := f.run(ctx, p, dir, func(s *peer.Server) error { return results[i].pause(ctx, s, n.paused) }); err != nil {
			return err
		}
	}
	t.compared = comparison{results, n.clients, n.paused}
	return nil
}

// run measures a server that has just been started, with an empty directory within dir. Its files
// are emptied afterwards, and are removed with dir only: ext4 without a journal does not take an inode
// for five minutes after a file was removed, and looks at each of those whenever a file is created.
// So whoever creates files would pay for the servers before it.
func (f *farEnds) run(ctx context.Context, p peer.Peer, dir string, measure func(*peer.Server) error) (err error) {
	if dir, err = os.MkdirTemp(dir, ""); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, empty(dir)) }()
	s, err := p.Start(ctx, dir, map[string]string{
		"MODEL_URL": f.model.URL(), "TOOLS_URL": f.tools.URL + "/mcp",
		"OPENAI_BASE_URL": f.model.URL(), "OPENAI_API_KEY": "bench", "LOG_LEVEL": "error",
	})
	if err != nil {
		return err
	}
	defer s.Stop()
	return measure(s)
}

// empty empties all files below a directory, except those that may not be written: it only saves room.
func empty(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if err := os.Truncate(path, 0); !errors.Is(err, fs.ErrPermission) {
			return err
		}
		return nil
	})
}

var modes = []contract.Execution{contract.ExecutionRegular, contract.ExecutionLean, contract.ExecutionAuto}

// contenders are the modes, the floors, and the peers that a directory describes, if it is given.
func contenders(dir string) (all []peer.Peer, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	for _, mode := range modes {
		all = append(all, agentPeer(self, mode))
	}
	for _, kind := range floor.Kinds {
		all = append(all, floorPeer(self, kind))
	}
	if dir == "" {
		return all, nil
	}
	more, err := peer.Read(dir)
	return append(all, more...), err
}

func agentPeer(self string, mode contract.Execution) peer.Peer {
	return peer.Peer{
		Name:    string(mode),
		Files:   map[string]string{"agent.yaml": agentFile("${PORT}", "${DIR}/data", "${TOOLS_URL}", "${PORT2}", fmt.Sprintf("prompt: %s\nexecution: %s\n", asTold, mode))},
		Command: []string{self, "-agent", "${DIR}/agent.yaml"},
		Ready:   "http://127.0.0.1:${PORT}/health/ready",
		List:    agentStep("conversations", map[string]any{"message": "look"}, ended),
		Approval: peer.Step{
			Request: agentStep("conversations", map[string]any{"message": "write"}, nil).Request,
			Until:   map[string]string{"result.waiting_approval": "true"},
			Keep:    map[string]string{"APPROVAL": "result.approval.uuid"},
		},
		Decision: agentStep("approvals/${APPROVAL}", map[string]any{"approved": true}, ended),
	}
}

var ended = map[string]string{"result.response": "done"}

func agentStep(path string, body any, until map[string]string) peer.Step {
	return peer.Step{Request: peer.Request{URL: "http://127.0.0.1:${PORT}/" + path, Body: body}, Until: until}
}

func floorPeer(self, kind string) peer.Peer {
	step := func(path, state string) peer.Step {
		return peer.Step{
			Request: peer.Request{URL: "http://127.0.0.1:${PORT}/" + path, Method: "POST"}, Until: map[string]string{"state": state},
		}
	}
	return peer.Peer{
		Name: kind, Command: []string{self, "-floor", kind}, Ready: "http://127.0.0.1:${PORT}/ready",
		List: step("turns", "done"), Approval: step("approvals/${ID}", "waiting"), Decision: step("approvals/${ID}/decision", "done"),
	}
}

// result has what was measured of one contender.
type result struct {
	name           string
	list, approval figures
	decision       []time.Duration
	resident       int64 // bytes, at most, with paused approvals
}

// figures are those of one kind of turn.
type figures struct {
	alone    []time.Duration
	aloneCPU time.Duration // of all those turns
	crowds   []flow        // of each round
}

// round measures each kind of turn, by one client and by many.
func (r *result) round(ctx context.Context, s *peer.Server, n size) error {
	list := turnFunc(s.List)
	approval := turnFunc(func(ctx context.Context) error { return decided(ctx, s, nil) })
	for _, kind := range []turnFunc{list, approval} { // what is compiled at run time is compiled then
		if _, err := together(ctx, clients(kind, n.clients), n.busy/2); err != nil {
			return err
		}
	}
	if err := r.list.add(ctx, s, n, list, list); err != nil {
		return err
	}
	timed := turnFunc(func(ctx context.Context) error { return decided(ctx, s, &r.decision) })
	return r.approval.add(ctx, s, n, timed, approval)
}

// decided runs an approval. It notes the time of the decision, if there is a list for it.
func decided(ctx context.Context, s *peer.Server, times *[]time.Duration) error {
	waiting, err := s.Ask(ctx)
	if err != nil {
		return err
	}
	start := time.Now()
	err = waiting.Decide(ctx)
	if times != nil {
		*times = append(*times, time.Since(start))
	}
	return err
}

// add measures turns by one client, and turns by many.
func (f *figures) add(ctx context.Context, s *peer.Server, n size, one, many turnFunc) error {
	used, err := cpuOf(s, func() error {
		times, err := each(n.turns, func() error { return one(ctx) })
		f.alone = append(f.alone, times...)
		return err
	})
	if err != nil {
		return err
	}
	f.aloneCPU += used
	var crowd flow
	used, err = cpuOf(s, func() (err error) {
		crowd, err = together(ctx, clients(many, n.clients), n.busy)
		return err
	})
	crowd.cpu = used
	f.crowds = append(f.crowds, crowd)
	return err
}

// cpuOf returns the processor time that a server uses while f runs.
func cpuOf(s *peer.Server, f func() error) (time.Duration, error) {
	before, err := s.Usage()
	if err != nil {
		return 0, err
	}
	if err := f(); err != nil {
		return 0, err
	}
	after, err := s.Usage()
	return after.CPU - before.CPU, err
}

// turnFunc is a turner.
type turnFunc func(context.Context) error

func (f turnFunc) turn(ctx context.Context) error { return f(ctx) }

// clients returns clients that run the same kind of turn.
func clients(kind turnFunc, count int) []turner {
	all := make([]turner, count)
	for i := range all {
		all[i] = kind
	}
	return all
}

// pause starts conversations that wait for a decision, and measures the peak of memory.
func (r *result) pause(ctx context.Context, s *peer.Server, count int) error {
	const abreast = 20
	var group sync.WaitGroup
	done, errs := make(chan struct{}), make(chan error, abreast)
	for i := range abreast {
		group.Go(func() {
			for range (count + i) / abreast {
				if _, err := s.Ask(ctx); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	go func() {
		group.Wait()
		close(done)
	}()
	for {
		u, err := s.Usage()
		if err != nil {
			return err
		}
		r.resident = max(r.resident, u.Resident)
		select {
		case <-done:
			close(errs)
			return <-errs
		case <-time.After(100 * time.Millisecond):
		}
	}
}
