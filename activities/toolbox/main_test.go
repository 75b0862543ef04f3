package toolbox_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
)

const childMarker = "TOOLBOX_TEST_CHILD"

// TestMain is also the stdio server: the test binary starts itself.
func TestMain(m *testing.M) {
	if mode := os.Getenv(childMarker); mode != "" {
		runChild(mode)
		return
	}
	os.Exit(m.Run())
}

func runChild(mode string) {
	if mode == "broken" {
		fmt.Fprintln(os.Stderr, "cannot start")
		os.Exit(3)
	}
	if mode == "parent" {
		runParent()
	}
	fmt.Fprintln(os.Stderr, "child is up")
	switch mode {
	case "chatty":
		for range 1000 {
			fmt.Fprintln(os.Stderr, "blah")
		}
	case "host":
		_ = server.ServeStdio(newHost())
		return
	case "stateless":
		serveStateless()
		return
	case "lines":
		serveLines()
		return
	}
	s := newMCP(nil)
	s.AddTool(mcp.NewTool("die"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		os.Exit(3)
		return nil, nil
	})
	s.AddTool(mcp.NewTool("environment"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(strings.Join(os.Environ(), "\n")), nil
	})
	s.AddTool(mcp.NewTool("pid"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(fmt.Sprint(os.Getpid())), nil
	})
	_ = server.ServeStdio(s)
	if mode == "stubborn" {
		signal.Ignore(syscall.SIGTERM)
		fmt.Fprintln(os.Stderr, "I stay")
		select {}
	}
}

// runParent starts a child, prints its process ID, and waits to be killed.
func runParent() {
	self, _ := os.Executable()
	box := toolbox.New(toolbox.Options{Servers: []toolbox.Server{
		{Name: "child", Command: self, Env: map[string]string{childMarker: "stubborn"}},
	}})
	result, err := box.Call(context.Background(), toolbox.Call{Server: "child", Tool: "pid"})
	fmt.Println(result.Text, err)
	time.Sleep(patience)
	os.Exit(1)
}

// probe records what happens inside the tools of a server.
type probe struct {
	entered chan string   // the tool "hang" was entered
	release chan struct{} // lets "hang" return
	mu      sync.Mutex
	ran     []string // notes of "touch", in order
}

func newProbe() *probe {
	return &probe{entered: make(chan string, 100), release: make(chan struct{})}
}

func (p *probe) notes() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.ran...)
}

// newMCP returns a server with one tool for each behaviour that tests need.
func newMCP(p *probe, opts ...server.ServerOption) *server.MCPServer {
	s := server.NewMCPServer("test", "1.0.0", append(opts, server.WithToolCapabilities(true))...)
	s.AddTool(mcp.NewTool("echo", mcp.WithReadOnlyHintAnnotation(true), mcp.WithString("text", mcp.Required())), echo)
	s.AddTool(mcp.NewTool("fail"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultError("no such thing"), nil
	})
	s.AddTool(mcp.NewTool("meta"), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(fmt.Sprint(r.Params.Meta.AdditionalFields[contract.IdempotencyMetaKey])), nil
	})
	s.AddTool(mcp.NewTool("hang"), func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if p == nil {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		p.entered <- r.GetString("note", "")
		select {
		case <-p.release:
		case <-ctx.Done():
		}
		return mcp.NewToolResultText("released"), nil
	})
	s.AddTool(mcp.NewTool("touch", mcp.WithString("note")), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if p != nil {
			p.mu.Lock()
			p.ran = append(p.ran, r.GetString("note", ""))
			p.mu.Unlock()
		}
		return mcp.NewToolResultText("touched"), nil
	})
	return s
}

func echo(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return mcp.NewToolResultText(r.GetString("text", "")), nil
}

// child returns the settings of the stdio server that the test binary runs.
func child(t testing.TB, name string) toolbox.Server {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return toolbox.Server{Name: name, Command: self, Env: map[string]string{
		childMarker: "tools", "GORACE": "atexit_sleep_ms=0",
	}}
}

// open returns a started toolbox, which is closed at the end of the test.
func open(t *testing.T, o toolbox.Options) *toolbox.Toolbox {
	t.Helper()
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	for _, limit := range []*time.Duration{&o.CallTimeout, &o.ConnectTimeout, &o.FirstWait} {
		*limit = cmp.Or(*limit, patience)
	}
	box := toolbox.New(o)
	t.Cleanup(func() {
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	})
	box.Start(t.Context())
	return box
}

func openServers(t *testing.T, servers ...toolbox.Server) *toolbox.Toolbox {
	t.Helper()
	return open(t, toolbox.Options{Servers: servers})
}

// patience bounds every wait. It passes only when something is broken.
const patience = 2 * time.Minute

// eventually polls until ok holds.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("never happened: %s", what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func within[T any](t *testing.T, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatalf("never happened: %s", what)
		panic("unreachable")
	}
}

// outcome is the result of a call in another goroutine.
type outcome struct {
	result toolbox.Result
	err    error
}

func callAside(ctx context.Context, box *toolbox.Toolbox, c toolbox.Call) <-chan outcome {
	out := make(chan outcome, 1)
	go func() {
		result, err := box.Call(ctx, c)
		out <- outcome{result, err}
	}()
	return out
}

// callUntilSent makes a call that hangs, and doubles its time limit until the call was sent: a
// call that was not sent is unavailable. If that is the wanted kind, the first call is enough.
func callUntilSent(t *testing.T, want contract.Kind, call func(limit time.Duration) error) {
	t.Helper()
	for limit := soon; ; limit *= 2 {
		err := call(limit)
		if kindOf(err) == contract.KindToolUnavailable && want != contract.KindToolUnavailable && limit < patience/4 {
			continue
		}
		wantKind(t, err, want)
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), fmt.Sprintf("no answer within %s", limit)) {
			t.Errorf("after %s: %v", limit, err)
		}
		return
	}
}

func mustCall(t *testing.T, box *toolbox.Toolbox, c toolbox.Call) toolbox.Result {
	t.Helper()
	result, err := box.Call(t.Context(), c)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return result
}

func same(a, b toolbox.Result) bool { return reflect.DeepEqual(a, b) }

func kindOf(err error) contract.Kind {
	var e *toolbox.Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return contract.Kind(cmp.Or(fmt.Sprint(err), "no error"))
}

func wantKind(t *testing.T, err error, kind contract.Kind) {
	t.Helper()
	if kindOf(err) != kind {
		t.Fatalf("got %v (%s), want kind %s", err, kindOf(err), kind)
	}
}

func names(tools []toolbox.Tool) string {
	var out []string
	for _, tool := range tools {
		out = append(out, tool.Name)
	}
	return strings.Join(out, " ")
}

// logBuffer collects log lines.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func (l *logBuffer) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }
