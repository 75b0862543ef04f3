package toolbox_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
)

// BenchmarkCall compares a call through the box with mcp-go's own, one after
// the other against one server, and reports the ratio of the medians.
func BenchmarkCall(b *testing.B) {
	web := httptest.NewServer(server.NewStreamableHTTPServer(newMCP(nil), server.WithStateful(true)))
	defer web.Close()
	events := httptest.NewServer(server.NewSSEServer(newMCP(nil)))
	defer events.Close()
	self := child(b, "box")
	stdio := func() (*client.Client, error) {
		return client.NewStdioMCPClient(self.Command, []string{childMarker + "=tools"})
	}
	b.Run("stdio", func(b *testing.B) { compare(b, self, stdio, comparison{}) })
	webServer := toolbox.Server{Name: "box", URL: web.URL}
	bareHTTP := func() (*client.Client, error) { return client.NewStreamableHttpClient(web.URL) }
	b.Run("http", func(b *testing.B) { compare(b, webServer, bareHTTP, comparison{}) })
	// The same request as the box's: the server spends time on its key and progress token.
	b.Run("http, the same request", func(b *testing.B) { compare(b, webServer, bareHTTP, comparison{same: true}) })
	// Destructive calls have their own connection, so that it is known whether one was sent.
	b.Run("http destructive", func(b *testing.B) { compare(b, webServer, bareHTTP, comparison{destructive: true}) })
	sse := toolbox.Server{Name: "box", URL: events.URL + "/sse", Transport: toolbox.SSE}
	b.Run("sse", func(b *testing.B) {
		compare(b, sse, func() (*client.Client, error) { return client.NewSSEMCPClient(sse.URL) }, comparison{})
	})
}

// comparison selects a destructive call, or a call of mcp-go with the same content as the
// box's.
type comparison struct{ destructive, same bool }

func compare(b *testing.B, s toolbox.Server, bare func() (*client.Client, error), with comparison) {
	box := toolbox.New(toolbox.Options{Servers: []toolbox.Server{s}})
	defer box.Close()
	call := toolbox.Call{
		Server: "box", Tool: "echo", Arguments: []byte(`{"text":"a"}`), Destructive: with.destructive,
		Progress: func(toolbox.Progress) {}, IdempotencyKey: "key", Bearer: "bearer", SessionID: "session",
	}
	ours := func() error { _, err := box.Call(b.Context(), call); return err }

	c, err := bare()
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	if err := c.Start(context.Background()); err != nil {
		b.Fatal(err)
	}
	var hello mcp.InitializeRequest
	hello.Params.ProtocolVersion = mcp.LATEST_LEGACY_PROTOCOL_VERSION
	if _, err := c.Initialize(b.Context(), hello); err != nil {
		b.Fatal(err)
	}
	var req mcp.CallToolRequest
	req.Params.Name, req.Params.Arguments = "echo", map[string]any{"text": "a"}
	if with.same {
		req.Header = http.Header{"Authorization": {"Bearer bearer"}, "X-Session-Id": {"session"}}
		req.Params.Meta = &mcp.Meta{ProgressToken: "call-1", AdditionalFields: map[string]any{contract.IdempotencyMetaKey: "key"}}
	}
	theirs := func() error { _, err := c.CallTool(b.Context(), req); return err }

	var mine, others []time.Duration
	for range 50 {
		clock(b, ours)
		clock(b, theirs)
	}
	for b.Loop() {
		mine = append(mine, clock(b, ours))
		others = append(others, clock(b, theirs))
	}
	b.ReportMetric(0, "ns/op") // the time of both calls together has no meaning
	b.ReportMetric(micros(mine), "µs/box")
	b.ReportMetric(micros(others), "µs/mcp-go")
	b.ReportMetric(micros(mine)/micros(others), "ratio")
}

// micros returns the median: a mean would include other work on the machine.
func micros(took []time.Duration) float64 {
	slices.Sort(took)
	return float64(took[len(took)/2].Nanoseconds()) / 1000
}

func clock(b *testing.B, f func() error) time.Duration {
	b.Helper()
	began := time.Now()
	if err := f(); err != nil {
		b.Fatal(err)
	}
	return time.Since(began)
}
