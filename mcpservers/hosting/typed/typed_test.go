package typed_test

import (
	"context"
	"errors"
	"testing"

	"agent-stop-and-go/mcpservers/hosting"
	"agent-stop-and-go/mcpservers/hosting/typed"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

type input struct {
	N    int      `json:"n" jsonschema:"a number"`
	Tags []string `json:"tags,omitempty"`
}

type output struct {
	Total int `json:"total"`
}

func connect(t *testing.T, s *server.MCPServer) *client.Client {
	t.Helper()
	c, err := client.NewInProcessClient(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	var hello mcp.InitializeRequest
	hello.Params.ProtocolVersion = "2025-11-25"
	if _, err := c.Initialize(t.Context(), hello); err != nil {
		t.Fatal(err)
	}
	return c
}

func call(t *testing.T, c *client.Client, name string, args any, key string) *mcp.CallToolResult {
	t.Helper()
	var r mcp.CallToolRequest
	r.Params.Name, r.Params.Arguments = name, args
	if key != "" {
		r.Params.Meta = mcp.NewMetaFromMap(map[string]any{hosting.IdempotencyKey: key})
	}
	result, err := c.CallTool(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestAToolIsAFunction(t *testing.T) {
	total := 0
	s := typed.NewServer("t", "1")
	typed.Add(s, typed.Tool{Name: "add", Title: "Add", Description: "Add a number", Effect: typed.Changes}, func(_ context.Context, in input) (output, error) {
		if in.N < 0 {
			return output{}, errors.New("n must not be negative")
		}
		total += in.N
		return output{total}, nil
	})
	c := connect(t, s)
	tools, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if a := tools.Tools[0].Annotations; *a.ReadOnlyHint || !*a.DestructiveHint || *a.IdempotentHint || *a.OpenWorldHint || a.Title != "Add" {
		t.Errorf("%+v", a)
	}
	for range 2 {
		if got := call(t, c, "add", map[string]any{"n": 5}, "key"); got.IsError || got.Content[0].(mcp.TextContent).Text != `{"total":5}` {
			t.Errorf("%+v", got)
		}
	}
	for _, args := range []any{map[string]any{"n": -1}, map[string]any{}, map[string]any{"n": "5"}, map[string]any{"n": 1, "m": 2}, map[string]any{"n": 1.5}} {
		if got := call(t, c, "add", args, ""); !got.IsError {
			t.Errorf("%v: %+v", args, got)
		}
	}
	if total != 5 {
		t.Errorf("the total is %d", total)
	}
}

func TestWhatIsForgottenPanics(t *testing.T) {
	do := func(context.Context, input) (output, error) { return output{}, nil }
	for name, add := range map[string]func(*server.MCPServer){
		"effect":      func(s *server.MCPServer) { typed.Add(s, typed.Tool{Name: "a", Description: "d"}, do) },
		"description": func(s *server.MCPServer) { typed.Add(s, typed.Tool{Name: "a", Effect: typed.Reads}, do) },
		"twice": func(s *server.MCPServer) {
			typed.Add(s, typed.Tool{Name: "a", Description: "d", Effect: typed.Reads}, do)
			typed.Add(s, typed.Tool{Name: "a", Description: "d", Effect: typed.Reads}, do)
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			add(typed.NewServer("t", "1"))
		}()
	}
}

func TestServersAreCombined(t *testing.T) {
	one, two := typed.NewServer("one", "1"), typed.NewServer("two", "1", server.WithPromptCapabilities(false))
	do := func(context.Context, input) (output, error) { return output{1}, nil }
	typed.Add(one, typed.Tool{Name: "a", Description: "d", Effect: typed.Reads}, do)
	typed.Add(two, typed.Tool{Name: "b", Description: "d", Effect: typed.Reads}, do)
	two.AddPrompt(mcp.NewPrompt("p"), func(context.Context, mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{}, nil
	})
	if err := typed.Combine(one, two); err != nil {
		t.Fatal(err)
	}
	c := connect(t, one)
	if got := call(t, c, "b", map[string]any{"n": 1}, ""); got.IsError {
		t.Errorf("%+v", got)
	}
	if len(one.ListTools()) != 2 || len(one.ListPrompts()) != 1 {
		t.Errorf("%v %v", one.ListTools(), one.ListPrompts())
	}
	if err := typed.Combine(one, two); err == nil || len(one.ListTools()) != 2 {
		t.Errorf("the same names twice: %v", err)
	}
}
