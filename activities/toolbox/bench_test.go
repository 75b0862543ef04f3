package toolbox_test

import (
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"

	"agent-stop-and-go/activities/toolbox"
)

// BenchmarkCall compares a call through the box with mcp-go's own.
func BenchmarkCall(b *testing.B) {
	b.Run("toolbox", func(b *testing.B) {
		self := child(b, "child")
		box := toolbox.New(toolbox.Options{Servers: []toolbox.Server{self}})
		defer box.Close()
		for b.Loop() {
			if _, err := box.Call(b.Context(), toolbox.Call{Server: "child", Tool: "echo", Arguments: []byte(`{"text":"a"}`)}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("mcp-go", func(b *testing.B) {
		self := child(b, "child")
		c, err := client.NewStdioMCPClient(self.Command, []string{childMarker + "=tools"})
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Initialize(b.Context(), mcp.InitializeRequest{}); err != nil {
			b.Fatal(err)
		}
		var req mcp.CallToolRequest
		req.Params.Name = "echo"
		req.Params.Arguments = map[string]any{"text": "a"}
		for b.Loop() {
			if _, err := c.CallTool(b.Context(), req); err != nil {
				b.Fatal(err)
			}
		}
	})
}
