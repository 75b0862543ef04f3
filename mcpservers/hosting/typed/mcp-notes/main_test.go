package main_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	command "agent-stop-and-go/mcpservers/hosting/typed/mcp-notes"
	"agent-stop-and-go/mcpservers/mirror"

	"github.com/mark3labs/mcp-go/mcp"
)

const asProgram = "MCP_NOTES_TEST_AS_PROGRAM"

// TestMain runs the program instead of the tests if a test started the binary as the program.
func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		command.Main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestTheExampleServes(t *testing.T) {
	t.Setenv(asProgram, "1")
	c, err := mirror.Connect(t.Context(), mirror.Target{Command: []string{os.Args[0], "--transport", "stdio"}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	tools, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
	if err != nil || len(tools.Tools) != 1 || *tools.Tools[0].Annotations.DestructiveHint || *tools.Tools[0].Annotations.ReadOnlyHint {
		t.Fatalf("%+v %v", tools, err)
	}
	for arguments, want := range map[string]string{`{"text":"milk"}`: `{"notes":["milk"]}`, `{}`: "text", `{"text":1}`: "text", `{"text":"a","more":1}`: "more"} {
		var call mcp.CallToolRequest
		call.Params.Name, call.Params.Arguments = "notes_add", json.RawMessage(arguments)
		result, err := c.CallTool(t.Context(), call)
		if err != nil || !strings.Contains(result.Content[0].(mcp.TextContent).Text, want) || result.IsError == strings.HasPrefix(want, "{") {
			t.Errorf("%s: %+v %v", arguments, result, err)
		}
	}
}

func TestTheExampleRefusesToListenForEverybody(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "--host", "0.0.0.0", "--port", "0")
	cmd.Env = append(os.Environ(), asProgram+"=1")
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "whoever reaches this address could use every tool") {
		t.Errorf("%v %s", err, out)
	}
}
