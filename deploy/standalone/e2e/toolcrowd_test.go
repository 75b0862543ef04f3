package e2e_test

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
)

const crowdSize = 200

// crowd makes many calls of both tool servers through one toolbox.
type crowd struct {
	t         *testing.T
	box       *toolbox.Toolbox
	db, lines string // files that the servers write to
	fileYAML  string
	calls     sync.WaitGroup     // first attempts
	ended     chan ended         // receives calls that have ended
	outcome   [crowdSize]outcome // of the last attempts
}

type ended struct {
	call int
	err  error
}

type outcome struct {
	kind contract.Kind // "" for a result
	text string
}

// toolServers returns both servers for the toolbox, after starting those that listen. Names are
// those of the binaries.
func (c *crowd) toolServers(listens string) (servers []toolbox.Server, restart func() *proc) {
	args := map[string][]string{"mcp-resources": {"--db", c.db}, "mcp-filesystem": {"--config", c.fileYAML}}
	for _, name := range []string{"mcp-resources", "mcp-filesystem"} {
		if name != listens {
			servers = append(servers, toolbox.Server{Name: name, Command: program(c.t, name), Args: append(args[name], "--stdio")})
			continue
		}
		port := freePort(c.t)
		restart = func() *proc {
			return start(c.t, c.t.TempDir(), name, nil, append(args[name], "--port", fmt.Sprint(port))...)
		}
		servers = append(servers, toolbox.Server{Name: name, URL: fmt.Sprintf("http://127.0.0.1:%d/mcp", port)})
	}
	return servers, restart
}

// call returns the nth call: two of four write, and two of four are for each server.
func (c *crowd) call(n int) toolbox.Call {
	switch n % 4 {
	case 0:
		return toolbox.Call{
			Server: "mcp-resources", Tool: "resources_add", Destructive: true,
			Arguments: fmt.Appendf(nil, `{"name":"n%d","value":%d}`, n, n), IdempotencyKey: fmt.Sprintf("key-%d", n),
		}
	case 1:
		return toolbox.Call{
			Server: "mcp-filesystem", Tool: "write_file", Destructive: true,
			Arguments: fmt.Appendf(nil, `{"root":"files","path":"lines","content":"n%d\n","mode":"append"}`, n),
		}
	case 2:
		return toolbox.Call{Server: "mcp-resources", Tool: "resources_list", Arguments: []byte(`{"pattern":"^none$"}`)}
	}
	return toolbox.Call{Server: "mcp-filesystem", Tool: "stat_file", Arguments: []byte(`{"root":"files","path":"lines"}`)}
}

// expected returns a text that the result of the nth call must contain.
func expected(n int) string {
	return []string{fmt.Sprintf(`"value": %d`, n), `"mode":"append"`, `"count": 0`, `"path":"lines"`}[n%4]
}

func (c *crowd) try(n int) error {
	result, err := c.box.Call(c.t.Context(), c.call(n))
	c.outcome[n] = outcome{text: result.Text}
	failure := new(toolbox.Error)
	switch {
	case errors.As(err, &failure):
		if prefix := "call " + failure.Tool + " on " + failure.Server + ": "; !strings.HasPrefix(err.Error(), prefix) {
			c.t.Errorf("call %d: %v", n, err)
		}
		c.outcome[n] = outcome{failure.Kind, err.Error()}
	case err != nil || result.IsError || !strings.Contains(result.Text, expected(n)):
		c.t.Errorf("call %d: %v, %+v", n, err, result)
	}
	return err
}

// begin starts the calls from first to next-1 concurrently.
func (c *crowd) begin(first, next int) {
	for n := first; n < next; n++ {
		c.calls.Go(func() { c.ended <- ended{n, c.try(n)} })
	}
}

// await receives ended calls until enough returns true.
func (c *crowd) await(enough func(e ended) bool) {
	c.t.Helper()
	for {
		select {
		case e := <-c.ended:
			if enough(e) {
				return
			}
		case <-time.After(patience):
			c.t.Fatal("a call does not end")
		}
	}
}

// freezeAndKill freezes a server while calls run, starts further calls, which hang, and kills
// the server when all calls of the other one have ended.
func (c *crowd) freezeAndKill(pid int, mortal string) {
	c.t.Helper()
	const atFirst, whileFrozen = crowdSize * 8 / 10, crowdSize * 9 / 10
	c.begin(0, atFirst)
	others := 0
	isOther := func(e ended) bool {
		if c.call(e.call).Server != mortal {
			others++
		}
		return c.call(e.call).Server != mortal
	}
	c.await(func(e ended) bool { return !isOther(e) })
	c.signal(pid, syscall.SIGSTOP)
	c.begin(atFirst, whileFrozen)
	c.await(func(e ended) bool { isOther(e); return others == whileFrozen/2 })
	c.signal(pid, syscall.SIGKILL)
	c.begin(whileFrozen, crowdSize)
	c.await(func(e ended) bool { return e.err != nil })
}

func (c *crowd) signal(pid int, signal syscall.Signal) {
	c.t.Helper()
	if err := syscall.Kill(pid, signal); err != nil {
		c.t.Fatalf("%s to %d: %v", signal, pid, err)
	}
}

// repeat repeats failed calls that may be repeated: those that did not run, and those that the
// server recognizes by their key.
func (c *crowd) repeat(mortal string) (tally map[contract.Kind]int) {
	tally = map[contract.Kind]int{}
	for n := range crowdSize {
		first := c.outcome[n]
		tally[first.kind]++
		switch {
		case first.kind == "":
		case c.call(n).Server != mortal:
			c.t.Errorf("call %d of the server that lived: %+v", n, first)
		case first.kind == contract.KindToolUnavailable, first.kind == contract.KindOutcomeUnknown && c.call(n).IdempotencyKey != "":
			eventually(c.t, fmt.Sprintf("call %d works", n), func() bool { return c.try(n) == nil })
		case first.kind != contract.KindOutcomeUnknown:
			c.t.Errorf("call %d: %+v", n, first)
		}
	}
	return tally
}

// count compares the stored data with the results.
func (c *crowd) count() {
	stored := map[string]int{}
	for _, resource := range resources(c.t, c.db) {
		name, _, _ := strings.Cut(resource, "=")
		stored[name]++
	}
	for line := range strings.Lines(content(c.t, c.lines)) {
		stored[strings.TrimSpace(line)]++
	}
	for n, outcome := range c.outcome {
		want := 0
		if c.call(n).Destructive {
			want = 1
		}
		got := stored[fmt.Sprintf("n%d", n)]
		if lost := got == 0 && outcome.kind == contract.KindOutcomeUnknown; got != want && !lost {
			c.t.Errorf("call %d ran %d times and ended as %+v", n, got, outcome)
		}
	}
}

// children returns the running child processes of this process.
func children(t *testing.T, name string) (pids []int) {
	t.Helper()
	for line := range strings.Lines(processes(t)) {
		fields := strings.Fields(line)
		if len(fields) < 3 || fields[0] != strconv.Itoa(os.Getpid()) || !strings.HasPrefix(filepath.Base(fields[2]), name) {
			continue
		}
		pid, err := strconv.Atoi(fields[1])
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return pids
}

// processes returns a line for each process of the machine: parent, PID and name. It reads
// /proc if that exists, and otherwise runs ps.
func processes(t *testing.T) string {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, file := range stats {
		stat, _ := os.ReadFile(file) // some end meanwhile
		pid, rest, _ := strings.Cut(string(stat), " (")
		name, state, ok := strings.Cut(rest, ") ")
		if fields := strings.Fields(state); ok && len(fields) > 1 {
			fmt.Fprintln(&out, fields[1], pid, name)
		}
	}
	if out.Len() > 0 {
		return out.String()
	}
	listed, err := exec.Command("ps", "-A", "-o", "ppid=", "-o", "pid=", "-o", "comm=").Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(listed)
}

// Every call has a result and none runs twice while its server is killed and restarted, and no
// goroutine or process is left over. Not parallel: it counts the goroutines and the child
// processes of the whole test binary.
func TestACrowdOfCallsSurvivesAServersDeath(t *testing.T) {
	tests := map[string]struct{ mortal, listens string }{
		"mcp-resources over HTTP":   {"mcp-resources", "mcp-resources"},
		"mcp-filesystem over HTTP":  {"mcp-filesystem", "mcp-filesystem"},
		"mcp-resources over stdio":  {"mcp-resources", "mcp-filesystem"},
		"mcp-filesystem over stdio": {"mcp-filesystem", "mcp-resources"},
	}
	program(t, "") // builds
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			goroutines, before := runtime.NumGoroutine(), children(t, "mcp-")
			config, files := fileServer(t)
			c := &crowd{
				t: t, db: filepath.Join(t.TempDir(), "resources.db"), fileYAML: config, lines: filepath.Join(files, "lines"),
				ended: make(chan ended, crowdSize),
			}
			if err := os.WriteFile(c.lines, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			servers, restart := c.toolServers(tt.listens)
			listening := restart()
			c.box = toolbox.New(toolbox.Options{
				Servers: servers, Logger: slog.New(slog.DiscardHandler),
				CallTimeout: patience, ConnectTimeout: patience, FirstWait: patience,
			})
			defer c.box.Close()
			if n := len(c.box.Tools(t.Context())); n != 3+15 {
				t.Fatalf("%d tools", n)
			}

			if tt.mortal == tt.listens {
				c.freezeAndKill(listening.cmd.Process.Pid, tt.mortal)
				<-listening.done
				listening = restart()
			} else {
				c.freezeAndKill(c.child(tt.mortal), tt.mortal) // the toolbox restarts it
			}
			c.calls.Wait()
			tally := c.repeat(tt.mortal)
			t.Logf("first attempts: %v", tally)
			if err := c.box.Close(); err != nil {
				t.Error(err)
			}
			if err := listening.terminate(); err != nil {
				t.Error(err)
			}
			eventually(t, "every process has ended", func() bool { return slices.Equal(children(t, "mcp-"), before) })
			eventually(t, "every goroutine has ended", func() bool { return runtime.NumGoroutine() <= goroutines })
			c.count()
		})
	}
}

// child returns the PID of the process that the toolbox has started.
func (c *crowd) child(name string) int {
	c.t.Helper()
	pids := children(c.t, name)
	if len(pids) != 1 {
		c.t.Fatalf("%d processes of %s", len(pids), name)
	}
	return pids[0]
}
