package files_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"testing"

	"agent-stop-and-go/mcpservers/drive/files"
	"agent-stop-and-go/mcpservers/hosting"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func noEnv(string) string { return "" }

type args = map[string]any

// fixture is a client of a server.
type fixture struct {
	*client.Client
	server *files.Server
}

func newServer(t *testing.T, config files.Config) (*files.Server, *server.MCPServer) {
	t.Helper()
	s, err := files.New(t.Context(), config, noEnv, slog.New(slog.NewTextHandler(io.Discard, nil)))
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	m := server.NewMCPServer(files.Name, files.Version, server.WithToolCapabilities(false), server.WithStrictInputSchemaDefault())
	s.Register(m)
	return s, m
}

func connect(t *testing.T, c *client.Client) *client.Client {
	t.Helper()
	t.Cleanup(func() { _ = c.Close() })
	must(t, c.Start(t.Context()))
	var initialize mcp.InitializeRequest
	initialize.Params.ProtocolVersion = "2025-11-25"
	_, err := c.Initialize(t.Context(), initialize)
	must(t, err)
	return c
}

// newFixture serves a configuration of which change makes the rest.
func newFixture(t *testing.T, change func(*files.Config)) *fixture {
	t.Helper()
	config := files.DefaultConfig()
	change(&config)
	s, m := newServer(t, config)
	c, err := client.NewInProcessClient(m)
	must(t, err)
	return &fixture{connect(t, c), s}
}

// call returns the result of a tool; an error of the protocol is err.
func (f *fixture) call(t *testing.T, tool, key string, arguments args) (*mcp.CallToolResult, error) {
	t.Helper()
	var request mcp.CallToolRequest
	request.Params.Name, request.Params.Arguments = tool, arguments
	if key != "" {
		request.Params.Meta = &mcp.Meta{AdditionalFields: map[string]any{hosting.IdempotencyKey: key}}
	}
	return f.CallTool(t.Context(), request)
}

// do returns the text of a call that succeeds, and fills a value with its structured content.
func (f *fixture) do(t *testing.T, tool string, arguments args, value any) string {
	t.Helper()
	result, err := f.call(t, tool, "", arguments)
	must(t, err)
	text := result.Content[0].(mcp.TextContent).Text
	if result.IsError {
		t.Fatalf("%s %v: %s", tool, arguments, text)
	}
	if value != nil {
		raw, err := json.Marshal(result.StructuredContent)
		must(t, err)
		must(t, json.Unmarshal(raw, value))
	}
	return text
}

// fails returns the text of a call that is refused.
func (f *fixture) fails(t *testing.T, tool string, arguments args) string {
	t.Helper()
	result, err := f.call(t, tool, "", arguments)
	must(t, err)
	text := result.Content[0].(mcp.TextContent).Text
	if !result.IsError {
		t.Errorf("%s %v succeeds: %s", tool, arguments, text)
	}
	return text
}
