package resources_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"testing"

	"agent-stop-and-go/mcpservers/resources"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

func openStore(t *testing.T) (store *resources.Store, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "new dir", "r?#%.db")
	return openAt(t, path), path
}

func openAt(t *testing.T, path string) *resources.Store {
	t.Helper()
	store, err := resources.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// inProcess connects a client to a server with a new database.
func inProcess(t *testing.T) *client.Client {
	t.Helper()
	store, _ := openStore(t)
	c, err := client.NewInProcessClient(resources.NewServer(store, quiet()))
	if err != nil {
		t.Fatal(err)
	}
	handshake(t, c)
	return c
}

func handshake(t *testing.T, c *client.Client) {
	t.Helper()
	t.Cleanup(func() { c.Close() })
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	var request mcp.InitializeRequest
	request.Params.ProtocolVersion = "2025-11-25"
	request.Params.ClientInfo = mcp.Implementation{Name: "test", Version: "1"}
	got, err := c.Initialize(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if got.ServerInfo.Name != "mcp-resources" || got.ServerInfo.Version != "1.0.0" {
		t.Errorf("server calls itself %+v", got.ServerInfo)
	}
}

type args = map[string]any

func request(tool string, arguments any, meta args) mcp.CallToolRequest {
	var r mcp.CallToolRequest
	r.Params.Name, r.Params.Arguments = tool, arguments
	if meta != nil {
		r.Params.Meta = &mcp.Meta{AdditionalFields: meta}
	}
	return r
}

// call returns the text of the result and whether it is an error.
func call(ctx context.Context, t *testing.T, c *client.Client, tool string, arguments any, meta args) (string, bool) {
	t.Helper()
	result, err := c.CallTool(ctx, request(tool, arguments, meta))
	if err != nil {
		t.Errorf("%s: %v", tool, err)
		return "", true
	}
	text, ok := result.Content[0].(mcp.TextContent)
	if !ok || len(result.Content) != 1 {
		t.Errorf("%s: want one text, got %+v", tool, result.Content)
	}
	return text.Text, result.IsError
}

// do calls a tool that must succeed and decodes its result.
func do[R any](t *testing.T, c *client.Client, tool string, arguments any) R {
	t.Helper()
	var r R
	text, isError := call(t.Context(), t, c, tool, arguments, nil)
	if isError {
		t.Errorf("%s refused: %s", tool, text)
		return r
	}
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Errorf("%s: %v in %s", tool, err, text)
	}
	return r
}

func add(t *testing.T, c *client.Client, name string, value int64) resources.Resource {
	t.Helper()
	return do[resources.Resource](t, c, "resources_add", args{"name": name, "value": value})
}

func list(t *testing.T, c *client.Client) resources.ListResult {
	t.Helper()
	return do[resources.ListResult](t, c, "resources_list", nil)
}
