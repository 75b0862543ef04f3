package hosting_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"agent-stop-and-go/mcpservers/hosting"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// example is the server of the tests.
type example struct {
	*server.MCPServer
	subscriptions *hosting.Subscriptions
	started       chan struct{} // receives when a call of wait runs
	release       chan struct{} // makes it return
	ended         chan error    // the error of its context, nil when released
}

func newExample() *example {
	e := &example{
		MCPServer: server.NewMCPServer("example", "1", server.WithToolCapabilities(false), server.WithResourceCapabilities(true, true)),
		started:   make(chan struct{}, 9), release: make(chan struct{}), ended: make(chan error, 9),
	}
	e.subscriptions = hosting.NewSubscriptions(e.MCPServer)
	e.AddTool(mcp.NewTool("wait"), e.wait)
	e.AddTool(mcp.NewTool("count"), count)
	e.AddPrompt(mcp.NewPrompt("boom"), func(context.Context, mcp.GetPromptRequest) (*mcp.GetPromptResult, error) { panic("boom") })
	return e
}

func (e *example) wait(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	e.started <- struct{}{}
	select {
	case <-e.release:
		e.ended <- nil
		return mcp.NewToolResultText("released"), nil
	case <-ctx.Done():
		e.ended <- ctx.Err()
		return nil, ctx.Err()
	}
}

// count returns how often its session has called it.
func count(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	session, ok := hosting.SessionFrom(ctx)
	if !ok {
		return mcp.NewToolResultText("no session"), nil
	}
	var n int
	if _, err := session.Get(ctx, "n", &n); err != nil {
		return nil, err
	}
	text, _ := json.Marshal(n + 1)
	return mcp.NewToolResultText(string(text)), session.Set(ctx, "n", n+1)
}

// testServer is a running server and its log.
type testServer struct {
	*example
	http *hosting.HTTP
	url  string
	log  *logBuffer
}

func serve(t *testing.T, options hosting.Options) testServer {
	t.Helper()
	e, log := newExample(), &logBuffer{lines: make(chan string, 1000)}
	options.Log = slog.New(slog.NewTextHandler(log, nil))
	h := hosting.NewHTTP(options, e.MCPServer)
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		h.Shutdown(context.Background())
		s.Close()
	})
	return testServer{e, h, s.URL, log}
}

func sessionFile(t *testing.T, path string) hosting.SessionStore {
	t.Helper()
	store, err := hosting.OpenSessions(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

func newPath(t *testing.T) string { return filepath.Join(t.TempDir(), "s.db") }

func dial(t *testing.T, url string, options ...transport.StreamableHTTPCOption) *client.Client {
	t.Helper()
	over, err := transport.NewStreamableHTTP(url+"/mcp", options...)
	if err != nil {
		t.Fatal(err)
	}
	return handshake(t, client.NewClient(over), "2025-11-25")
}

// readUntil reads a stream up to the line that contains part.
func readUntil(t *testing.T, stream *http.Response, part string) {
	t.Helper()
	lines := bufio.NewScanner(stream.Body)
	for lines.Scan() {
		if strings.Contains(lines.Text(), part) {
			return
		}
	}
	t.Errorf("stream ended before %q: %v", part, lines.Err())
}

func dialSSE(t *testing.T, url string) *client.Client {
	t.Helper()
	c, err := client.NewSSEMCPClient(url + "/sse")
	if err != nil {
		t.Fatal(err)
	}
	return handshake(t, c, "2025-11-25")
}

func dialModern(t *testing.T, url string) *client.Client {
	t.Helper()
	over, err := transport.NewStreamableHTTP(url + "/mcp")
	if err != nil {
		t.Fatal(err)
	}
	return handshake(t, client.NewClient(over), "2026-07-28")
}

func handshake(t *testing.T, c *client.Client, version string) *client.Client {
	t.Helper()
	client.WithProtocolVersion(version)(c)
	t.Cleanup(func() { c.Close() })
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	var request mcp.InitializeRequest
	request.Params.ProtocolVersion = version
	request.Params.ClientInfo = mcp.Implementation{Name: "test", Version: "1"}
	got, err := c.Initialize(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if got.ProtocolVersion != version {
		t.Errorf("protocol %s, want %s", got.ProtocolVersion, version)
	}
	return c
}

func use(t *testing.T, c *client.Client, tool string) string {
	t.Helper()
	var request mcp.CallToolRequest
	request.Params.Name = tool
	result, err := c.CallTool(t.Context(), request)
	if err != nil {
		return err.Error()
	}
	return result.Content[0].(mcp.TextContent).Text
}

// ask sends one raw request. Header lines are "Name: value".
func ask(t *testing.T, method, url, body string, header ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for _, line := range header {
		switch name, value, _ := strings.Cut(line, ": "); name {
		case "":
		case "Host":
			r.Host = value
		default:
			r.Header.Set(name, value)
		}
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	if strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		return response, ""
	}
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(text)
}

const (
	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	listTools  = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
)

// newSession creates a session and returns its id as a header line.
func newSession(t *testing.T, url string) string {
	t.Helper()
	response, body := ask(t, "POST", url+"/mcp", initialize)
	id := response.Header.Get("Mcp-Session-Id")
	if response.StatusCode != 200 || id == "" {
		t.Fatalf("initialize: %d %s", response.StatusCode, body)
	}
	return "Mcp-Session-Id: " + id
}

// logBuffer stores a log and returns its lines.
type logBuffer struct {
	mu    sync.Mutex
	text  bytes.Buffer
	lines chan string
}

func (l *logBuffer) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines <- string(line)
	return l.text.Write(line)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *logBuffer) waitFor(t *testing.T, part string) string {
	t.Helper()
	for {
		select {
		case line := <-l.lines:
			if strings.Contains(line, part) {
				return line
			}
		case <-t.Context().Done():
			t.Fatalf("no %q in %s", part, l)
		}
	}
}
