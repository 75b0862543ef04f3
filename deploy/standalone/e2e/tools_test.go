package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// tools is an MCP server inside the test. It outlives the agent and counts the calls that
// really ran.
type tools struct {
	URL string

	mu      sync.Mutex
	calls   []toolCall
	blocked chan struct{} // closed to release calls of "slow"
	entered chan struct{} // receives a value when "slow" is called
	left    chan struct{} // receives a value when a caller of "slow" stops waiting
	broken  bool          // answer 502 instead of calling
}

type toolCall struct {
	Tool, Key, Auth, Session string
	Traceparent              string
	Args                     map[string]any
	At                       time.Time
}

func newTools(t *testing.T) *tools {
	s := &tools{blocked: make(chan struct{}), entered: make(chan struct{}, 100), left: make(chan struct{}, 100)}
	m := server.NewMCPServer("counting", "1.0.0", server.WithToolCapabilities(true))
	s.add(m, "note_add", true, func(args map[string]any) string { return fmt.Sprintf("added %v", args["name"]) })
	s.add(m, "note_list", false, func(map[string]any) string { return "no notes" })
	s.add(m, "look", false, s.count("look"))
	s.add(m, "tick", true, s.count("tick"))
	s.add(m, "big", false, func(map[string]any) string { return strings.Repeat("0123456789abcdef", 20<<10/16) })
	s.add(m, "fail", false, nil)
	s.addBlocking(m, "slow_read", false, s.wait)
	s.addBlocking(m, "slow_write", true, s.wait)
	h := server.NewStreamableHTTPServer(m)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		broken := s.broken
		s.mu.Unlock()
		if broken {
			http.Error(w, "out of order", http.StatusBadGateway)
			return
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		s.release()
		web.CloseClientConnections()
		web.Close()
	})
	s.URL = web.URL + "/mcp"
	return s
}

func (s *tools) wait(ctx context.Context, _ map[string]any) string {
	s.mu.Lock()
	blocked := s.blocked
	s.mu.Unlock()
	s.entered <- struct{}{}
	select {
	case <-blocked:
	case <-ctx.Done():
		s.left <- struct{}{}
	}
	return "done at last"
}

// count returns how often a tool was called with the same name, including this call.
func (s *tools) count(tool string) func(map[string]any) string {
	return func(args map[string]any) string {
		n := 0
		for _, c := range s.called(tool) {
			if c.Args["name"] == args["name"] {
				n++
			}
		}
		return strconv.Itoa(n)
	}
}

// counts returns how often each name was given to the counting tools.
func (s *tools) counts() map[string]int {
	out := map[string]int{}
	for _, tool := range []string{"look", "tick"} {
		for _, c := range s.called(tool) {
			out[fmt.Sprint(c.Args["name"])]++
		}
	}
	return out
}

// release lets running and later slow calls finish.
func (s *tools) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.blocked:
	default:
		close(s.blocked)
	}
}

func (s *tools) add(m *server.MCPServer, name string, destructive bool, f func(map[string]any) string) {
	if f == nil {
		s.addBlocking(m, name, destructive, nil)
		return
	}
	s.addBlocking(m, name, destructive, func(_ context.Context, args map[string]any) string { return f(args) })
}

func (s *tools) addBlocking(m *server.MCPServer, name string, destructive bool, f func(context.Context, map[string]any) string) {
	tool := mcp.NewTool(name, mcp.WithDescription("For tests: "+name),
		mcp.WithString("name"), mcp.WithNumber("n"),
		mcp.WithReadOnlyHintAnnotation(!destructive), mcp.WithDestructiveHintAnnotation(destructive))
	m.AddTool(tool, func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		s.record(r)
		if f == nil {
			return mcp.NewToolResultError("this tool always fails"), nil
		}
		return mcp.NewToolResultText(f(ctx, r.GetArguments())), nil
	})
}

func (s *tools) record(r mcp.CallToolRequest) {
	c := toolCall{
		Tool: r.Params.Name, Args: r.GetArguments(), At: time.Now(),
		Auth: r.Header.Get("Authorization"), Session: r.Header.Get("X-Session-ID"),
	}
	if r.Params.Meta != nil {
		c.Key, _ = r.Params.Meta.AdditionalFields["agent-stop-and-go/idempotency-key"].(string)
		c.Traceparent, _ = r.Params.Meta.AdditionalFields["traceparent"].(string)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, c)
}

// called returns the calls of a tool so far.
func (s *tools) called(tool string) []toolCall {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []toolCall
	for _, c := range s.calls {
		if c.Tool == tool {
			out = append(out, c)
		}
	}
	return out
}

func (s *tools) breakDown(broken bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = broken
}
