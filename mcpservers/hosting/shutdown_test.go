package hosting_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/mcpservers/hosting"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

// runningServer is a server with its own listener.
type runningServer struct {
	*example
	url    string
	stop   context.CancelFunc
	served chan error
}

func run(t *testing.T, grace time.Duration) runningServer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	r := runningServer{newExample(), "http://" + listener.Addr().String(), stop, make(chan error, 1)}
	h := hosting.NewHTTP(hosting.Options{Grace: grace}, r.MCPServer)
	go func() { r.served <- h.Serve(ctx, listener) }()
	t.Cleanup(stop)
	return r
}

func TestTheEndClosesStreamsOfEveryKind(t *testing.T) {
	r := run(t, time.Minute)
	const listening = `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["thing://1"]},` +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	var streams []*http.Response
	open := func(method, path, body string, header ...string) {
		stream, text := ask(t, method, r.url+path, body, header...)
		if stream.StatusCode != 200 || text != "" {
			t.Fatalf("%s: %d %s", path, stream.StatusCode, text)
		}
		streams = append(streams, stream)
	}
	open("GET", "/mcp", "", newSession(t, r.url))
	open("GET", "/sse", "")
	open("POST", "/mcp", listening, "Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: subscriptions/listen")
	r.stop()
	if err := <-r.served; err != nil {
		t.Error(err)
	}
	for _, stream := range streams {
		if _, err := io.ReadAll(stream.Body); err != nil {
			t.Errorf("%s was cut: %v", stream.Request.URL, err)
		}
	}
}

func TestRunningCallsAreAnsweredBeforeTheEnd(t *testing.T) {
	for name, connect := range map[string]func(*testing.T, string) *client.Client{
		"streamable": func(t *testing.T, url string) *client.Client { return dial(t, url) },
		"sse":        dialSSE,
		"modern":     dialModern,
	} {
		t.Run(name, func(t *testing.T) {
			r := run(t, time.Minute)
			c := connect(t, r.url)
			got := make(chan string, 1)
			go func() { got <- use(t, c, "wait") }()
			<-r.started
			r.stop()
			waitUntilRefused(t, r.url)
			close(r.release)
			if text := <-got; text != "released" {
				t.Errorf("got %s", text)
			}
			if err := <-r.served; err != nil {
				t.Error(err)
			}
		})
	}
}

// waitUntilRefused returns when the server accepts no new connections.
func waitUntilRefused(t *testing.T, url string) {
	t.Helper()
	for {
		connection, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			return
		}
		connection.Close()
	}
}

func TestCallsThatTakeTooLongAreCancelled(t *testing.T) {
	for name, connect := range map[string]func(*testing.T, string) *client.Client{
		"streamable": func(t *testing.T, url string) *client.Client { return dial(t, url) },
		"sse":        dialSSE,
	} {
		t.Run(name, func(t *testing.T) {
			r := run(t, 50*time.Millisecond)
			c := connect(t, r.url)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go c.CallTool(ctx, mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "wait"}})
			<-r.started
			r.stop()
			if err := <-r.served; err != nil {
				t.Error(err)
			}
			if err := <-r.ended; err == nil {
				t.Error("the call was not cancelled")
			}
		})
	}
}

func TestNothingRunsOnAfterTheEnd(t *testing.T) {
	before := runtime.NumGoroutine()
	r := run(t, time.Minute)
	for range 3 {
		a, b := dial(t, r.url), dialSSE(t, r.url)
		use(t, a, "count")
		use(t, b, "count")
		a.Close()
		b.Close()
	}
	http.DefaultClient.CloseIdleConnections()
	r.stop()
	if err := <-r.served; err != nil {
		t.Error(err)
	}
	for deadline := time.Now().Add(2 * time.Minute); runtime.NumGoroutine() > before; runtime.Gosched() { // connections end with a delay
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines before, %d afterwards", before, runtime.NumGoroutine())
		}
	}
}
