//go:build cluster

package cluster

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// journal is a tool server in the test. It outlives everything else, recognises no repeated
// call, and counts the calls of its tool strike by their names.
type journal struct {
	url string

	mu    sync.Mutex
	calls map[string]int
}

// strikeTime is how long a call takes, so that a death finds calls under way.
const strikeTime = 300 * time.Millisecond

func startJournal(t *testing.T, f fault) *journal {
	t.Helper()
	j := &journal{calls: map[string]int{}}
	m := mcpserver.NewMCPServer("journal", "1.0.0", mcpserver.WithToolCapabilities(true))
	m.AddTool(mcp.NewTool("strike", mcp.WithDescription("Strikes."), mcp.WithString("name", mcp.Required()), mcp.WithDestructiveHintAnnotation(true)), j.strike)
	handler := http.Handler(mcpserver.NewStreamableHTTPServer(m))
	if f == faultTwice {
		handler = twice(handler)
	}
	web := httptest.NewServer(handler)
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
	})
	j.url = web.URL + "/mcp"
	return j
}

func (j *journal) strike(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	name := r.GetString("name", "")
	j.mu.Lock()
	j.calls[name]++
	j.mu.Unlock()
	time.Sleep(strikeTime)
	return mcp.NewToolResultText("struck " + name), nil
}

// of returns how often a name was struck.
func (j *journal) of(name string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.calls[name]
}
