package worker_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/config"
	"agent-stop-and-go/worker"
	"agent-stop-and-go/workflows/contract"
)

// fakeToolLister has the tools of the servers that are ready.
type fakeToolLister struct {
	mu    sync.Mutex
	up    []string
	looks int
	more  []toolbox.Tool // besides those of stock
}

// offer sets the tools besides those of stock.
func (s *fakeToolLister) offer(more ...toolbox.Tool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.more = more
}

var stock = []toolbox.Tool{
	tool("resources", "resources_add", true), tool("resources", "resources_list", false), tool("resources", "resources_remove", true),
	tool("files", "write_file", true), tool("files", "read_file", false),
}

func tool(server, name string, destructive bool) toolbox.Tool {
	return toolbox.Tool{Tool: contract.Tool{Name: name, Server: server, DestructiveHint: destructive}}
}

func (s *fakeToolLister) Tools(context.Context) []toolbox.Tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looks++
	return slices.DeleteFunc(slices.Concat(stock, s.more), func(t toolbox.Tool) bool { return !slices.Contains(s.up, t.Server) })
}

func (s *fakeToolLister) States() []contract.ServerState {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []contract.ServerState
	for _, name := range []string{"resources", "files"} {
		out = append(out, contract.ServerState{Name: name, Ready: slices.Contains(s.up, name)})
	}
	return out
}

func (s *fakeToolLister) start(server string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.up = append(s.up, server)
}

// lateServer is a fakeToolLister whose second server becomes ready between two checks.
type lateServer struct{ *fakeToolLister }

func (a lateServer) States() []contract.ServerState {
	a.start("files")
	return a.fakeToolLister.States()
}

// lines logs without times.
func lines() (*slog.Logger, *bytes.Buffer) {
	var b bytes.Buffer
	return slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	})), &b
}

func warning(node, tools string) string {
	return fmt.Sprintf(`level=WARN msg="node \"%s\" runs destructive tools without asking" node=%s tools=%s hint="set approval: required on it to hold them"`+"\n",
		node, node, tools)
}

func expect(t *testing.T, got *bytes.Buffer, want ...string) {
	t.Helper()
	if w := strings.Join(want, ""); got.String() != w {
		t.Errorf("logged\n%sexpected\n%s", got, w)
	}
}

func TestNodesThatRunDestructiveToolsUnaskedAreNamed(t *testing.T) {
	nodes := []config.AutoRunNode{
		{Name: "all"}, {Name: "none", Tools: []string{}}, {Name: "one", Tools: []string{"resources_remove"}},
		{Name: "server", Tools: []string{"files"}}, {Name: "safe", Tools: []string{"resources_list", "read_file", "nope"}},
	}
	logger, got := lines()
	worker.WarnAutoRun(t.Context(), nodes, nil, &fakeToolLister{up: []string{"resources", "files"}}, logger)
	expect(t, got, warning("all", `"resources_add, resources_remove, write_file"`), warning("one", "resources_remove"), warning("server", "write_file"))
}

func TestWithoutSuchNodesNobodyLooks(t *testing.T) {
	logger, got := lines()
	s := &fakeToolLister{}
	worker.WarnAutoRun(t.Context(), nil, nil, s, logger)
	expect(t, got)
	if s.looks != 0 {
		t.Errorf("%d looks", s.looks)
	}
}

func TestAServerThatComesLateIsLookedAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logger, got := lines()
		s := &fakeToolLister{}
		done := make(chan struct{})
		go func() {
			defer close(done)
			worker.WarnAutoRun(t.Context(), []config.AutoRunNode{{Name: "gather"}, {Name: "keep", Tools: []string{"files"}}}, nil, s, logger)
		}()
		synctest.Wait()
		expect(t, got)

		s.start("resources")
		<-time.After(2*worker.PollInterval + 1)
		synctest.Wait()
		first := warning("gather", `"resources_add, resources_remove"`)
		expect(t, got, first)

		s.start("files")
		<-done
		expect(t, got, first, warning("gather", "write_file"), warning("keep", "write_file"))
	})
}

func TestAServerThatComesWhileLookingIsNotMissed(t *testing.T) {
	logger, got := lines()
	worker.WarnAutoRun(t.Context(), []config.AutoRunNode{{Name: "keep", Tools: []string{"files"}}}, nil, lateServer{&fakeToolLister{up: []string{"resources"}}}, logger)
	expect(t, got, warning("keep", "write_file"))
}

func TestTheLookingEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logger, got := lines()
		ctx, cancel := context.WithTimeout(t.Context(), 10*worker.PollInterval+1)
		defer cancel()
		worker.WarnAutoRun(ctx, []config.AutoRunNode{{Name: "gather"}}, nil, &fakeToolLister{up: []string{"resources"}}, logger)
		expect(t, got, warning("gather", `"resources_add, resources_remove"`))
	})
}

func TestAToolThatNoServerHasIsNamedOnceAllAreThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeToolLister{up: []string{"resources"}}
		logger, log := lines()
		lists := []config.ToolList{{Node: "a", Names: []string{"resources", "read_file", "resource_list"}}, {Node: "b", Names: []string{"files"}}}
		var wg sync.WaitGroup
		wg.Go(func() { worker.WarnAutoRun(context.Background(), nil, lists, s, logger) })
		synctest.Wait()
		if log.Len() > 0 {
			t.Errorf("warned while a server was missing: %s", log)
		}
		s.start("files")
		wg.Wait()
		want := "level=WARN msg=\"node \\\"a\\\" lists a tool that no server has\" node=a tool=resource_list hint=\"GET /tools lists the names\"\n"
		if log.String() != want {
			t.Errorf("%q, want %q", log, want)
		}
	})
}
