package toolbox_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
)

func TestToolsOfAllServersInOrder(t *testing.T) {
	box := openServers(t, serve(t, newMCP(nil)).server("web"))
	if got, want := names(box.Tools(t.Context())), "echo fail hang meta touch"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	state := box.States()[0]
	if want := (contract.ServerState{Name: "web", Ready: true, Tools: 5}); state != want {
		t.Errorf("got %+v, want %+v", state, want)
	}
}

func TestServerMissingAtStartIsReportedAndFound(t *testing.T) {
	log := &logBuffer{}
	place := newSite(t)
	box := open(t, toolbox.Options{Servers: []toolbox.Server{place.server("late"), child(t, "here")}, Logger: log.logger()})
	if got := names(box.Tools(t.Context())); !strings.Contains(got, "pid") {
		t.Fatalf("the live server's tools are missing: %q", got)
	}
	state := box.States()[0]
	if state.Ready || !strings.Contains(state.Error, "refused") || strings.Contains(state.Error, "http://") {
		t.Fatalf("got %+v", state)
	}
	place.start(newMCP(nil))
	result := mustCall(t, box, toolbox.Call{Server: "late", Tool: "echo", Arguments: []byte(`{"text":"hi"}`)})
	if result.Text != "hi" || !box.States()[0].Ready {
		t.Fatalf("got %+v, %+v", result, box.States()[0])
	}
	if n := strings.Count(log.String(), "not available"); n != 1 {
		t.Errorf("%d lines for one change:\n%s", n, log)
	}
}

func TestServerThatComesLaterIsFoundInTheBackground(t *testing.T) {
	place := newSite(t)
	box := openServers(t, place.server("late"))
	if got := box.Tools(t.Context()); len(got) != 0 {
		t.Fatalf("got %v", got)
	}
	place.start(newMCP(nil))
	eventually(t, "the tools appear", func() bool { return len(box.Tools(t.Context())) == 5 })
}

func TestRestartedServerIsFoundAgainAndTheCallRunsOnce(t *testing.T) {
	p := newProbe()
	place := serve(t, newMCP(p))
	box := openServers(t, place.server("web"))
	for i := range 5 {
		mustCall(t, box, toolbox.Call{Server: "web", Tool: "touch", Arguments: note(i), Destructive: true})
		place.kill()
		place.start(newMCP(p)) // the new server does not know the session
	}
	mustCall(t, box, toolbox.Call{Server: "web", Tool: "touch", Arguments: note(5), Destructive: true})
	if got := strings.Join(p.notes(), " "); got != "0 1 2 3 4 5" {
		t.Errorf("the tool ran: %s", got)
	}
}

func note(i int) []byte { return fmt.Appendf(nil, `{"note":"%d"}`, i) }

func TestRestartIsNoticedWithoutACall(t *testing.T) {
	place := serve(t, newMCP(nil))
	box := openServers(t, place.server("web"))
	box.Tools(t.Context())
	place.awaitStream()
	place.kill()
	eventually(t, "the loss is seen", func() bool { return !box.States()[0].Ready })
	if got := len(box.Tools(t.Context())); got != 5 {
		t.Errorf("%d tools on offer while the server is down, want 5", got)
	}
	place.start(newMCP(nil))
	eventually(t, "it is ready again", func() bool { return box.States()[0].Ready })
}

// The server is killed after the handshake, before the stream of its messages is open, so the
// end of that stream cannot report the loss.
func TestALossBeforeTheStreamIsOpenIsNoticed(t *testing.T) {
	for name, place := range map[string]*site{"sessions": serve(t, newMCP(nil)), "stateless": modernOnly(t, newHost())} {
		t.Run(name, func(t *testing.T) {
			asked := place.withhold(forMessages)
			box := openServers(t, place.server("web"))
			box.Tools(t.Context())
			within(t, "the client asks for the stream", asked)
			place.kill()
			eventually(t, "the loss is seen", func() bool { return !box.States()[0].Ready })
		})
	}
}

// A server that answers but never opens the stream stays connected. Its tools are listed from
// time to time.
func TestAServerWithoutAStreamStaysConnected(t *testing.T) {
	for _, status := range []int{http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusBadGateway} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			place := newSite(t)
			place.onRequest(func(w http.ResponseWriter, r *http.Request, _ string) bool {
				if r.Method == http.MethodGet {
					w.WriteHeader(status)
				}
				return r.Method == http.MethodGet
			})
			place.start(newMCP(nil))
			box := openServers(t, place.server("web"))
			box.Tools(t.Context())
			if status != http.StatusMethodNotAllowed {
				eventually(t, "the tools are listed again", func() bool { return len(place.requestsWith(`"method":"tools/list"`)) > 1 })
			}
			mustCall(t, box, toolbox.Call{Server: "web", Tool: "touch"})
			if n := len(place.requestsWith(`"method":"initialize"`)); n != 1 || !box.States()[0].Ready {
				t.Errorf("connected %d times, state %+v", n, box.States()[0])
			}
		})
	}
}

func TestDeadChildIsReplaced(t *testing.T) {
	box := openServers(t, child(t, "child"))
	for range 3 {
		pid, err := strconv.Atoi(mustCall(t, box, toolbox.Call{Server: "child", Tool: "pid", Destructive: true}).Text)
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the child is gone", func() bool { return gone(pid) })
	}
	mustCall(t, box, toolbox.Call{Server: "child", Tool: "pid"})
}

func gone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// isDead reports whether a process has ended; zombies count.
func isDead(pid int) bool {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return gone(pid) || strings.Contains(string(stat), ") Z ")
}

func TestChildEndsWhenWeAreKilled(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere a child ends because its input does")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parent := exec.Command(self)
	parent.Env = append(os.Environ(), childMarker+"=parent")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	_, scanErr := fmt.Fscan(out, &pid)
	_ = parent.Process.Kill()
	_ = parent.Wait()
	if scanErr != nil || pid <= 1 {
		t.Fatalf("no child: %v", scanErr)
	}
	eventually(t, "the child ends", func() bool { return isDead(pid) })
}

func TestCloseEndsAStubbornChild(t *testing.T) {
	t.Parallel()
	stubborn := child(t, "child")
	stubborn.Env[childMarker] = "stubborn"
	box := openServers(t, stubborn)
	pid, err := strconv.Atoi(mustCall(t, box, toolbox.Call{Server: "child", Tool: "pid"}).Text)
	if err != nil {
		t.Fatal(err)
	}
	if err := box.Close(); err != nil {
		t.Fatal(err)
	}
	if !gone(pid) {
		t.Errorf("child %d still runs", pid)
	}
}

func TestChildThatCannotStartIsReported(t *testing.T) {
	log := &logBuffer{}
	broken := child(t, "broken")
	broken.Env[childMarker] = "broken"
	missing := toolbox.Server{Name: "missing", Command: "no-such-command-here"}
	box := open(t, toolbox.Options{Servers: []toolbox.Server{broken, missing}, Logger: log.logger()})
	box.Tools(t.Context())
	for i, want := range []string{"exit status 3", "no-such-command-here"} {
		if state := box.States()[i]; state.Ready || !strings.Contains(state.Error, want) {
			t.Errorf("got %+v, want %q", state, want)
		}
	}
	eventually(t, "stderr is logged", func() bool {
		return strings.Contains(log.String(), `server=broken line="cannot start"`)
	})
	_, err := box.Call(t.Context(), toolbox.Call{Server: "missing", Tool: "x", Destructive: true})
	wantKind(t, err, contract.KindToolUnavailable)
}

func TestChildGetsNoSecrets(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "canary-1")
	t.Setenv("AGENT_CREDENTIAL_KEYS", "canary-2")
	server := child(t, "child")
	server.Env["WANTED"] = "yes"
	box := openServers(t, server)
	env := mustCall(t, box, toolbox.Call{Server: "child", Tool: "environment", Bearer: "canary-3", SessionID: "canary-4"}).Text
	if strings.Contains(env, "canary") {
		t.Errorf("the child sees: %s", env)
	}
	for _, want := range []string{"WANTED=yes", "PATH=" + os.Getenv("PATH")} {
		if !strings.Contains(env, want) {
			t.Errorf("the child misses %s", want)
		}
	}
}

func TestToolsAreListedAgainWhenTheyChange(t *testing.T) {
	m := newMCP(nil)
	place := serve(t, m)
	box := openServers(t, place.server("web"))
	box.Tools(t.Context())
	place.awaitStream()
	eventually(t, "the new tool appears", func() bool {
		m.AddTool(mcp.NewTool("added"), echo) // again: the stream may not be registered yet
		return strings.Contains(names(box.Tools(t.Context())), "added")
	})
	m.DeleteTools("added")
	eventually(t, "it disappears", func() bool { return !strings.Contains(names(box.Tools(t.Context())), "added") })
}

func TestEveryPageIsRead(t *testing.T) {
	m := server.NewMCPServer("pages", "1", server.WithPaginationLimit(3))
	for i := range 10 {
		m.AddTool(mcp.NewTool(fmt.Sprintf("t%02d", i)), echo)
	}
	box := openServers(t, serve(t, m).server("web"))
	if got := len(box.Tools(t.Context())); got != 10 {
		t.Errorf("%d tools, want 10", got)
	}
}

func TestDuplicateNamesAreNamedAndLeftOut(t *testing.T) {
	one := server.NewMCPServer("one", "1")
	one.AddTool(mcp.NewTool("t"), echo)
	two := server.NewMCPServer("two", "1")
	two.AddTool(mcp.NewTool("t"), echo)
	two.AddTool(mcp.NewTool("u"), echo)
	box := openServers(t, serve(t, one).server("a"), serve(t, two).server("b"))
	tools := box.Tools(t.Context())
	if names(tools) != "t u" || tools[0].Server != "a" {
		t.Errorf("got %v", tools)
	}
	want := contract.ServerState{Name: "b", Ready: true, Tools: 1,
		Error: `duplicate tool name "t" found in MCP servers "a" and "b"`}
	if got := box.States()[1]; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestConflictsNameBothServersAndTheWaysOutAndAreLoggedOnce(t *testing.T) {
	log := &logBuffer{}
	one, two, own := server.NewMCPServer("one", "1"), server.NewMCPServer("two", "1"), server.NewMCPServer("own", "1")
	for i := range 7 {
		one.AddTool(mcp.NewTool(fmt.Sprint("t", i)), echo)
		two.AddTool(mcp.NewTool(fmt.Sprint("t", i)), echo)
	}
	own.AddTool(mcp.NewTool(toolbox.ToolRead), echo)
	a, b, c := serve(t, one).server("a"), serve(t, two).server("b"), serve(t, own).server("c")
	a.ExposeResources = true
	box := open(t, toolbox.Options{Servers: []toolbox.Server{a, b, c}, Logger: log.logger()})
	box.Tools(t.Context())
	want := []string{
		`MCP servers "a" and "b" have tools of the same name ("t0", "t1", "t2", "t3", "t4", and 2 more), and those of "b" cannot be called: ` +
			`set prefix: true on one of them, or name them in tools.deny of one`,
		`MCP server "c" has tools that are named like tools of the agent itself ("` + toolbox.ToolRead + `"), and cannot be called: ` +
			`set prefix: true on it, or name them in its tools.deny`,
	}
	if got := box.Conflicts(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, line := range want {
		eventually(t, "the conflict is in the log", func() bool { return strings.Count(log.String(), strconv.Quote(line)) == 1 })
	}
	two.DeleteTools("t6")
	eventually(t, "the tools are listed again", func() bool { return strings.Contains(box.Conflicts()[0], "and 1 more") })
}

func TestAServerWithAProblemIsNotConnectedTo(t *testing.T) {
	place := serve(t, newMCP(nil))
	broken := place.server("web")
	broken.Problem = "headers: not set in the environment: [TOKEN]"
	box := openServers(t, broken)
	if got := box.Tools(t.Context()); len(got) > 0 {
		t.Errorf("tools %v", got)
	}
	if got := box.States()[0]; got.Ready || got.Error != broken.Problem {
		t.Errorf("got %+v", got)
	}
	_, err := box.Call(t.Context(), toolbox.Call{Server: "web", Tool: "echo"})
	if err == nil || !strings.Contains(err.Error(), broken.Problem) {
		t.Errorf("a call: %v", err)
	}
}

func TestToolsDoNotWaitForDeadServers(t *testing.T) {
	silent := newSite(t)
	stuck := make(chan struct{})
	t.Cleanup(func() { close(stuck) })
	silent.startHandler(nil)
	silent.onRequest(hangUntil(stuck))
	box := open(t, toolbox.Options{
		Servers:   []toolbox.Server{silent.server("silent"), serve(t, newMCP(nil)).server("web")},
		FirstWait: soon,
	})
	eventually(t, "the live server is connected", func() bool { return box.States()[1].Ready })
	if got := len(box.Tools(t.Context())); got != 5 {
		t.Errorf("%d tools, want those of the live server", got)
	}
}

func TestCloseLeavesNothingBehind(t *testing.T) {
	place := serve(t, newMCP(newProbe()))
	before := runtime.NumGoroutine()
	box := toolbox.New(toolbox.Options{Servers: []toolbox.Server{place.server("web"), child(t, "child"), newSite(t).server("dead")}})
	box.Start(t.Context())
	pid, err := strconv.Atoi(mustCall(t, box, toolbox.Call{Server: "child", Tool: "pid"}).Text)
	if err != nil {
		t.Fatal(err)
	}
	mustCall(t, box, toolbox.Call{Server: "web", Tool: "touch"})
	running := callAside(context.Background(), box, toolbox.Call{Server: "web", Tool: "hang", Destructive: true})
	eventually(t, "the call runs", func() bool { return len(place.requestsWith(`"name":"hang"`)) == 1 })
	for range 2 {
		if err := box.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if !gone(pid) {
		t.Errorf("child %d still runs", pid)
	}
	wantKind(t, within(t, "the call ends", running).err, contract.KindOutcomeUnknown)
	place.kill()
	eventually(t, "all goroutines end", func() bool { return runtime.NumGoroutine() <= before })
	_, err = box.Call(t.Context(), toolbox.Call{Server: "web", Tool: "touch"})
	wantKind(t, err, contract.KindToolUnavailable)
}

func TestParallelCallsGetTheirOwnAnswers(t *testing.T) {
	box := openServers(t, serve(t, newMCP(nil)).server("web"), child(t, "child"))
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			where := []string{"web", "child"}[i%2]
			text := fmt.Sprintf("answer %d", i)
			result, err := box.Call(t.Context(), toolbox.Call{Server: where, Tool: "echo", Arguments: fmt.Appendf(nil, `{"text":%q}`, text)})
			if err != nil || result.Text != text {
				t.Errorf("%d: got %+v, %v", i, result, err)
			}
		})
	}
	wg.Wait()
}

func TestStartDoesNotBlock(t *testing.T) {
	silent := newSite(t)
	asked := silent.withhold(func(*http.Request, string) bool { return true })
	silent.startHandler(nil)
	box := open(t, toolbox.Options{Servers: []toolbox.Server{silent.server("silent")}}) // returns before the server answers
	within(t, "the attempt to connect", asked)
	if box.States()[0].Ready {
		t.Error("it is ready without an answer")
	}
}
