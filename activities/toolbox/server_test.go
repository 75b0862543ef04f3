package toolbox_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
)

func text(s string) server.ToolHandlerFunc {
	return func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(s), nil
	}
}

// serveNamedTools starts a server with tools that return their names.
func serveNamedTools(t *testing.T, names ...string) *site {
	m := server.NewMCPServer("shelf", "1")
	for _, name := range names {
		m.AddTool(mcp.NewTool(name, mcp.WithReadOnlyHintAnnotation(name == "read"), mcp.WithDestructiveHintAnnotation(name == "erase")), text(name))
	}
	return serve(t, m)
}

func TestToolsThatAreNotAllowedAreNeitherOfferedNorCalled(t *testing.T) {
	tests := map[string]struct {
		allow, deny []string
		want        string
	}{
		"everything":           {nil, nil, "erase read write"},
		"only some":            {[]string{"read", "write"}, nil, "read write"},
		"not all":              {nil, []string{"erase"}, "read write"},
		"denying wins":         {[]string{"read", "erase"}, []string{"erase"}, "read"},
		"an empty list":        {[]string{}, nil, ""},
		"a name of no tool":    {[]string{"read", "raed"}, nil, "read"},
		"prefixes are ignored": {[]string{"read", "web__write"}, nil, "read"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			place := serveNamedTools(t, "read", "write", "erase")
			s := place.server("web")
			s.Allow, s.Deny = tt.allow, tt.deny
			box := openServers(t, s)
			if got := names(box.Tools(t.Context())); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			for _, tool := range []string{"read", "write", "erase"} {
				_, err := box.Call(t.Context(), toolbox.Call{Server: "web", Tool: tool, Destructive: true})
				if offered := strings.Contains(tt.want, tool); offered && err != nil {
					t.Errorf("%s: %v", tool, err)
				} else if !offered {
					wantKind(t, err, contract.KindToolFailed)
				}
			}
			if n := len(place.requestsWith(toolsCall)); n != len(strings.Fields(tt.want)) {
				t.Errorf("%d calls reached the server", n)
			}
		})
	}
}

func TestSettingsOverrideHints(t *testing.T) {
	s := serveNamedTools(t, "read", "write", "erase").server("web")
	s.Destructive, s.Safe, s.Unannotated = []string{"read"}, []string{"erase"}, toolbox.Ask
	for _, prefix := range []bool{false, true} {
		s.Prefix = prefix
		got := map[string]bool{}
		for _, tool := range openServers(t, s).Tools(t.Context()) {
			got[strings.TrimPrefix(tool.Name, "web__")] = tool.DestructiveHint
			if tool.DestructiveHint && tool.ReadOnly {
				t.Errorf("%s is destructive and read-only", tool.Name)
			}
		}
		if diff := cmp.Diff(map[string]bool{"read": true, "write": false, "erase": false}, got); diff != "" {
			t.Errorf("prefix %v (-want +got):\n%s", prefix, diff)
		}
	}
}

func TestNamesOfNoToolAreReportedOnce(t *testing.T) {
	log := &logBuffer{}
	s := serveNamedTools(t, "read").server("web")
	s.Deny, s.Destructive, s.Safe = []string{"erase"}, []string{"wipe"}, []string{"read", "wipe"}
	box := open(t, toolbox.Options{Servers: []toolbox.Server{s}, Logger: log.logger()})
	box.Tools(t.Context())
	if n := strings.Count(log.String(), `tools="[erase wipe]"`); n != 1 {
		t.Errorf("%d lines:\n%s", n, log)
	}
}

func TestPrefixedToolsGoOutUnderTheirOwnNames(t *testing.T) {
	one, two := serveNamedTools(t, "read", "a__read"), serveNamedTools(t, "read")
	a, b := one.server("a"), two.server("b")
	a.Prefix = true
	box := openServers(t, a, b)
	if got := names(box.Tools(t.Context())); got != "a__a__read a__read read" {
		t.Fatalf("got %q", got)
	}
	for _, state := range box.States() {
		if state.Error != "" {
			t.Errorf("got %+v", state)
		}
	}
	for tool, want := range map[string]string{"a__read": "read", "a__a__read": "a__read"} {
		if got := mustCall(t, box, toolbox.Call{Server: "a", Tool: tool}); got.Text != want {
			t.Errorf("%s: got %+v", tool, got)
		}
		if _, problem := box.Check(context.Background(), tool, []byte(`{}`)); problem != "" {
			t.Errorf("%s: %s", tool, problem)
		}
	}
}

func TestOptionalServersAreNotWaitedFor(t *testing.T) {
	silent := newSite(t)
	stuck := make(chan struct{})
	silent.startHandler(nil)
	silent.onRequest(hangUntil(stuck))
	s := silent.server("silent")
	s.Optional = true
	box := openServers(t, s, serveNamedTools(t, "read").server("web"))
	if got := names(box.Tools(t.Context())); got != "read" {
		t.Errorf("got %q", got)
	}
	states := box.States()
	if !states[0].Optional || states[0].Ready || states[0].Error == "" || states[1].Optional {
		t.Errorf("got %+v", states)
	}
	silent.onRequest(nil)
	close(stuck)
}

func TestHeadersOfTheServerGoWithEveryRequest(t *testing.T) {
	for _, kind := range []string{toolbox.HTTP, toolbox.SSE} {
		place := newSite(t)
		place.startHandler(map[string]http.Handler{
			toolbox.HTTP: server.NewStreamableHTTPServer(newMCP(nil), server.WithStateful(true)), toolbox.SSE: server.NewSSEServer(newMCP(nil)),
		}[kind])
		s := toolbox.Server{
			Name: "web", URL: fmt.Sprintf("http://%s/%s", place.addr, map[string]string{toolbox.HTTP: "mcp", toolbox.SSE: "sse"}[kind]),
			Transport: kind, Headers: map[string]string{"authorization": "Bearer own", "X-Team": "shop"},
		}
		box := openServers(t, s)
		mustCall(t, box, toolbox.Call{Server: "web", Tool: "touch", Bearer: "canary", SessionID: "s-1"})
		if h := place.requestsWith(toolsCall)[0].header; h.Get("X-Session-ID") != "s-1" {
			t.Errorf("%s: got %v", kind, h)
		}
		if err := box.Close(); err != nil {
			t.Error(err)
		}
		for _, r := range place.requestsWith("") {
			if got := r.header.Get("Authorization") + " " + r.header.Get("X-Team"); got != "Bearer own shop" {
				t.Errorf("%s: %s %s carries %q", kind, r.method, r.body, got)
			}
		}
		if kind == toolbox.HTTP && len(place.methods("DELETE")) != 1 {
			t.Error("the session was not ended")
		}
	}
}

func TestADuplicateOfOurOwnToolIsNamed(t *testing.T) {
	m := server.NewMCPServer("shelf", "1", server.WithResourceCapabilities(false, false))
	for _, name := range []string{"read_resource", "read"} {
		m.AddTool(mcp.NewTool(name), echo)
	}
	s := serve(t, m).server("web")
	s.ExposeResources = true
	box := openServers(t, s)
	tools := box.Tools(t.Context())
	if names(tools) != "read read_resource" || tools[1].Server != "" {
		t.Errorf("got %+v", tools)
	}
	if got := box.States()[0]; got.Tools != 1 || !strings.Contains(got.Error, `"read_resource" of MCP server "web"`) {
		t.Errorf("got %+v", got)
	}
}
