package cli_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"agent-stop-and-go/deploy/standalone/cli"
	"agent-stop-and-go/mcpservers/hosting"
)

const asToolServer = "CLI_TEST_AS_TOOL_SERVER"

func init() { // before the tests, in a process that tools lint has started
	if os.Getenv(asToolServer) == "" {
		return
	}
	s := server.NewMCPServer("t", "1", server.WithToolCapabilities(false))
	s.AddTool(mcp.NewTool("good", mcp.WithDescription("d"), hosting.Hints{ReadOnly: true}.Annotation("Good")), nil)
	if os.Getenv(asToolServer) == "bad" {
		s.AddTool(mcp.Tool{Name: "bad", InputSchema: mcp.ToolInputSchema{Type: "object", Properties: map[string]any{"x": map[string]any{"type": "string"}}}}, nil)
	}
	if err := hosting.ServeStdio(context.Background(), hosting.Options{}, s); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

func TestToolsLintTellsTheFaultsOfAServer(t *testing.T) {
	for kind, want := range map[string]string{"good": "No faults.\n", "bad": "a misspelled argument is accepted, and may widen what the call does\n"} {
		t.Setenv(asToolServer, kind)
		for _, cmd := range cli.Commands(os.Getenv) {
			if cmd.Name() != "tools" {
				continue
			}
			var out bytes.Buffer
			cmd.SetOut(&out)
			cmd.SetErr(io.Discard) // the server writes there, too
			cmd.SetArgs([]string{"lint", "--", os.Args[0]})
			if err := cmd.ExecuteContext(t.Context()); (err != nil) != (kind == "bad") || !strings.Contains(out.String(), want) {
				t.Errorf("%s: %v\n%s", kind, err, &out)
			}
		}
	}
}
