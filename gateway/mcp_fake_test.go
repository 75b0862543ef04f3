package gateway_test

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"agent-stop-and-go/gateway"
)

const (
	acceptMCP  = "Accept: application/json, text/event-stream"
	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
)

// elicitor answers questions.
type elicitor func(mcp.ElicitationParams) mcp.ElicitationResponse

func (f elicitor) Elicit(_ context.Context, r mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	return &mcp.ElicitationResult{ElicitationResponse: f(r.Params)}, nil
}

// mcpClient connects a client to an agent whose conversations are scripts.
func mcpClient(t *testing.T, m *many, options []client.ClientOption, change ...func(*gateway.Deps)) *client.Client {
	t.Helper()
	server := httptest.NewServer(chatting(t, m, change...).Gateway)
	t.Cleanup(server.Close)
	return connectMCP(t, server.URL, nil, options...)
}

func connectMCP(t *testing.T, url string, headers map[string]string, options ...client.ClientOption) *client.Client {
	t.Helper()
	wire, err := transport.NewStreamableHTTP(url+"/mcp", transport.WithHTTPHeaders(headers))
	if err != nil {
		t.Fatal(err)
	}
	c := client.NewClient(wire, options...)
	t.Cleanup(func() { _ = c.Close() })
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	var init mcp.InitializeRequest
	init.Params.ClientInfo = mcp.Implementation{Name: "test", Version: "1"}
	init.Params.ProtocolVersion = mcp.LATEST_LEGACY_PROTOCOL_VERSION
	if _, err := c.Initialize(t.Context(), init); err != nil {
		t.Fatal(err)
	}
	return c
}

// asked is the structured result of a call.
type asked struct {
	Conversation, Status, Response string
	Waiting                        []struct{ ID, Tool, Description, Reason, URL string }
}

func callOf(tool string, arguments map[string]any) (r mcp.CallToolRequest) {
	r.Params.Name, r.Params.Arguments = tool, arguments
	return r
}

func callMCP(t *testing.T, c *client.Client, r mcp.CallToolRequest) (out asked, text string) {
	t.Helper()
	got, err := c.CallTool(t.Context(), r)
	if err != nil || got.IsError {
		t.Fatalf("%+v %v", got, err)
	}
	raw, err := json.Marshal(got.StructuredContent)
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out, got.Content[0].(mcp.TextContent).Text
}

// failsMCP makes a call whose result is an error, and returns its text.
func failsMCP(t *testing.T, c *client.Client, r mcp.CallToolRequest) string {
	t.Helper()
	got, err := c.CallTool(t.Context(), r)
	if err != nil || !got.IsError {
		t.Fatalf("%+v %v", got, err)
	}
	return got.Content[0].(mcp.TextContent).Text
}

// bothEras runs a test with the protocol that has sessions and with the one that has none.
func bothEras(t *testing.T, test func(*testing.T, ...client.ClientOption)) {
	//lint:ignore SA1019 clients of protocol 2025-11-25 have sessions
	t.Run("sessions", func(t *testing.T) { test(t, client.WithLegacyProtocolOnly()) })
	t.Run("no sessions", func(t *testing.T) { test(t) })
}
