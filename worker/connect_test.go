package worker_test

import (
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"agent-stop-and-go/config"
	"agent-stop-and-go/worker"
)

func toolServer(t *testing.T, tool string) string {
	t.Helper()
	m := server.NewMCPServer("things", "1")
	m.AddTool(mcp.NewTool(tool), nil)
	web := httptest.NewServer(server.NewStreamableHTTPServer(m))
	t.Cleanup(web.Close)
	return web.URL
}

func TestConnectTellsOfMissingServersAndOfToolsOfOneName(t *testing.T) {
	one, two := toolServer(t, "read"), toolServer(t, "read")
	const twice = `tool server b: duplicate tool name "read" found in MCP servers "a" and "b"`
	for list, want := range map[string][]string{
		`{name: a, url: %q}, {name: b, url: %q}`:                                                                     {twice},
		`{name: a, url: %q}, {name: b, url: %q, prefix: true}`:                                                       nil,
		`{name: a, url: %q}, {name: b, url: %q, optional: true}`:                                                     {twice},
		`{name: a, url: %q}, {name: c, url: %q, prefix: true}, {name: b, command: /no, optional: true}`:              nil,
		`{name: a, url: %q}, {name: c, url: %q, prefix: true}, {name: b, command: /no}`:                              {`tool server b: start /no: fork/exec /no: no such file or directory`},
		`{name: a, url: %q}, {name: c, url: %q, prefix: true}, {name: b, url: "http://b", headers: {X-Key: "${B}"}}`: nil,
	} {
		c, err := config.Parse("agent.yaml", fmt.Appendf(nil, "mcp_servers: ["+list+"]", one, two))
		if err != nil {
			t.Fatal(err)
		}
		got, err := worker.Connect(t.Context(), c, func(string) string { return "" })
		if err != nil {
			t.Errorf("%s: %v", list, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", list, diff)
		}
	}
}
