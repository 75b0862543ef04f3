package toolbox_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
)

// grantFor returns the binding that an approval of a tool would have now.
func grantFor(t *testing.T, box *toolbox.Toolbox, name string) *contract.Binding {
	t.Helper()
	for _, tool := range box.Tools(t.Context()) {
		if tool.Name == name {
			target := tool.Target()
			return &contract.Binding{Address: target.Address, SHA256: target.Digest()}
		}
	}
	t.Fatalf("%s is not on offer", name)
	return nil
}

func placeOf(t *testing.T, s *server.MCPServer) toolbox.Server {
	t.Helper()
	place := httptest.NewServer(server.NewStreamableHTTPServer(s))
	t.Cleanup(place.Close)
	return toolbox.Server{Name: "web", URL: place.URL + "/mcp"}
}

func touch(grant *contract.Binding) toolbox.Call {
	return toolbox.Call{Server: "web", Tool: "touch", Destructive: true, Bound: grant}
}

func TestAnApprovedCallGoesWhereItWasApprovedToGo(t *testing.T) {
	here, there := newProbe(), newProbe()
	first, second := placeOf(t, newMCP(here)), placeOf(t, newMCP(there))
	box := openServers(t, first)
	grant := grantFor(t, box, "touch")
	mustCall(t, box, touch(grant))

	after := openServers(t, second) // a restart with another URL
	_, err := after.Call(t.Context(), touch(grant))
	wantKind(t, err, contract.KindChanged)
	var e *toolbox.Error
	if !errors.As(err, &e) || e.Now.Address != second.URL || e.Now.Digest() != grant.SHA256 {
		t.Errorf("now %+v", e)
	}
	if len(there.notes()) != 0 {
		t.Error("the call was made")
	}
	mustCall(t, after, touch(&contract.Binding{Address: e.Now.Address, SHA256: e.Now.Digest()}))
	if len(here.notes()) != 1 || len(there.notes()) != 1 {
		t.Errorf("%d and %d calls", len(here.notes()), len(there.notes()))
	}
}

func TestNewKeysDoNotAskAgain(t *testing.T) {
	here := newProbe()
	place := placeOf(t, newMCP(here))
	place.URL += "?api_key=one"
	grant := grantFor(t, openServers(t, place), "touch")
	place.URL = strings.Replace(place.URL, "=one", "=two", 1)
	place.Headers = map[string]string{"Authorization": "Bearer another"}
	mustCall(t, openServers(t, place), touch(grant))
}

func TestAToolThatIsAnotherByNowIsNotCalled(t *testing.T) {
	for name, change := range map[string]func(*server.MCPServer, server.ToolHandlerFunc){
		"its description": func(s *server.MCPServer, h server.ToolHandlerFunc) {
			s.AddTool(mcp.NewTool("touch", mcp.WithDescription("Deletes everything."), mcp.WithString("note")), h)
		},
		"its parameters": func(s *server.MCPServer, h server.ToolHandlerFunc) {
			s.AddTool(mcp.NewTool("touch", mcp.WithString("note"), mcp.WithBoolean("everything")), h)
		},
		"it is gone": func(s *server.MCPServer, _ server.ToolHandlerFunc) { s.DeleteTools("touch") },
	} {
		t.Run(name, func(t *testing.T) {
			calls := make(chan struct{}, 10)
			handler := func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				calls <- struct{}{}
				return mcp.NewToolResultText("touched"), nil
			}
			s := newMCP(nil)
			s.AddTool(mcp.NewTool("touch", mcp.WithString("note")), handler)
			place := placeOf(t, s)
			grant := grantFor(t, openServers(t, place), "touch")
			change(s, handler)
			_, err := openServers(t, place).Call(t.Context(), touch(grant))
			wantKind(t, err, contract.KindChanged)
			if len(calls) != 0 {
				t.Error("the call was made")
			}
		})
	}
}

func TestTheOrderOfASchemaMakesNoDifference(t *testing.T) {
	a := toolbox.Tool{Address: "a", Tool: contract.Tool{Server: "s", Description: "d", InputSchema: []byte(`{"type":"object","properties":{"x":{},"y":{}}}`)}}
	b := a
	b.InputSchema = []byte(` {"properties": {"y":{},"x":{}}, "type":"object"}`)
	if diff := cmp.Diff(a.Target(), b.Target()); diff != "" {
		t.Error(diff)
	}
}
