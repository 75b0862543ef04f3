package toolbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
)

// kinds are the transports and protocols of a server. Each function starts one with the tools
// of newHost.
var kinds = map[string]func(t *testing.T) toolbox.Server{
	"http":             func(t *testing.T) toolbox.Server { return serve(t, newHost()).server("web") },
	"http, sessions":   func(t *testing.T) toolbox.Server { return legacyOnly(t, newHost()).server("web") },
	"http, stateless":  func(t *testing.T) toolbox.Server { return modernOnly(t, newHost()).server("web") },
	"sse":              func(t *testing.T) toolbox.Server { return serveSSE(t, newHost()).sse("web") },
	"stdio":            func(t *testing.T) toolbox.Server { return childAs(t, "web", "host") },
	"stdio, stateless": func(t *testing.T) toolbox.Server { return childAs(t, "web", "stateless") },
}

func childAs(t testing.TB, name, mode string) toolbox.Server {
	s := child(t, name)
	s.Env[childMarker] = mode
	return s
}

func (s *site) sse(name string) toolbox.Server {
	return toolbox.Server{Name: name, URL: "http://" + s.addr + "/sse", Transport: toolbox.SSE}
}

func serveSSE(t *testing.T, m *server.MCPServer) *site {
	t.Helper()
	s := newSite(t)
	s.startHandler(server.NewSSEServer(m))
	return s
}

// legacyOnly serves only the protocols with sessions.
func legacyOnly(t *testing.T, m *server.MCPServer) *site {
	t.Helper()
	s := newSite(t)
	s.startHandler(server.NewStreamableHTTPServer(m, server.WithStateful(true),
		server.WithStreamableHTTPProtocolVersions(mcp.LATEST_LEGACY_PROTOCOL_VERSION, mcp.ProtocolVersion20250618)))
	return s
}

// modernOnly serves the protocol without sessions, and refuses the handshake.
func modernOnly(t *testing.T, m *server.MCPServer) *site {
	t.Helper()
	s := newSite(t)
	s.onRequest(refuseHandshake)
	s.startHandler(server.NewStreamableHTTPServer(m, server.WithStreamableHTTPProtocolVersions(mcp.LATEST_PROTOCOL_VERSION)))
	return s
}

func refuseHandshake(w http.ResponseWriter, r *http.Request, body string) bool {
	if r.Method == http.MethodPost && !strings.Contains(body, `"method":"initialize"`) {
		return false
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28"]}}}`)
	return true
}

// newHost is newMCP with resources, prompts, and tools that send requests to the client.
func newHost() *server.MCPServer {
	s := newMCP(nil, server.WithResourceCapabilities(false, true), server.WithPromptCapabilities(true), server.WithPaginationLimit(2))
	done := make(chan struct{})
	s.AddTool(mcp.NewTool("work"), work(done))
	s.AddTool(mcp.NewTool("finish"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		close(done)
		return mcp.NewToolResultText("finished"), nil
	})
	s.AddTool(mcp.NewTool("grow"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		s.AddTool(mcp.NewTool("grown"), echo)
		return mcp.NewToolResultText("grown"), nil
	})
	var stopped atomic.Int32
	s.AddTool(mcp.NewTool("wait"), func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		_, err := work(nil)(ctx, r)
		stopped.Add(1)
		return nil, err
	})
	s.AddTool(mcp.NewTool("stopped"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(fmt.Sprint(stopped.Load())), nil
	})
	s.AddTool(mcp.NewTool("ask", mcp.WithString("what")), ask)
	for i := range 5 {
		name := fmt.Sprintf("note %d", i)
		s.AddResource(mcp.NewResource(fmt.Sprintf("note://%d", i), name, mcp.WithMIMEType("text/plain")),
			func(_ context.Context, r mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
				return []mcp.ResourceContents{
					mcp.TextResourceContents{URI: r.Params.URI, MIMEType: "text/plain", Text: "text of " + name},
					mcp.BlobResourceContents{URI: r.Params.URI, MIMEType: "image/png", Blob: "aGVsbG8="},
				}, nil
			})
		s.AddPrompt(mcp.NewPrompt(fmt.Sprintf("greet%d", i), mcp.WithPromptDescription("Greets."), mcp.WithArgument("who", mcp.RequiredArgument())),
			func(_ context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
				return mcp.NewGetPromptResult("", []mcp.PromptMessage{
					mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent("Greet "+r.Params.Arguments["who"]+".")),
					mcp.NewPromptMessage(mcp.RoleAssistant, mcp.NewTextContent("Gladly.")),
				}), nil
			})
	}
	s.AddResourceTemplate(mcp.NewResourceTemplate("note://{n}", "a note"),
		func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) { return nil, nil })
	return s
}

// work sends progress notifications until done is closed.
func work(done <-chan struct{}) server.ToolHandlerFunc {
	return func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if r.Params.Meta == nil || r.Params.Meta.ProgressToken == nil {
			return mcp.NewToolResultText("nobody asked"), nil
		}
		err := server.ServerFromContext(ctx).SendNotificationToClient(ctx, "notifications/progress", map[string]any{
			"progressToken": r.Params.Meta.ProgressToken, "progress": 1, "total": 3, "message": "step",
		})
		if err != nil {
			return nil, err
		}
		select {
		case <-done:
		case <-ctx.Done():
		}
		return mcp.NewToolResultText("worked"), nil
	}
}

// serveStateless runs a stdio server that refuses the handshake.
func serveStateless() {
	in, out := os.Stdin, os.Stdout
	read, write, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	go func() {
		defer write.Close()
		for dec := json.NewDecoder(in); ; {
			var raw json.RawMessage
			if dec.Decode(&raw) != nil {
				return
			}
			if strings.Contains(string(raw), `"method":"initialize"`) {
				fmt.Fprintln(out, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}`)
				continue
			}
			fmt.Fprintln(write, string(raw))
		}
	}()
	_ = server.NewStdioServer(newHost()).Listen(context.Background(), read, out)
}

func eachKind(t *testing.T, test func(t *testing.T, s toolbox.Server)) {
	for name, start := range kinds {
		t.Run(name, func(t *testing.T) { test(t, start(t)) })
	}
}

func TestEveryKindOfServerListsAndCalls(t *testing.T) {
	eachKind(t, func(t *testing.T, s toolbox.Server) {
		box := openServers(t, s)
		if got, want := names(box.Tools(t.Context())), "ask echo fail finish grow hang meta stopped touch wait work"; got != want {
			t.Fatalf("got %q, want %q, %+v", got, want, box.States())
		}
		got := mustCall(t, box, toolbox.Call{Server: "web", Tool: "echo", Arguments: []byte(`{"text":"hi"}`), Destructive: true})
		if got.Text != "hi" {
			t.Errorf("got %+v", got)
		}
		if got := mustCall(t, box, toolbox.Call{Server: "web", Tool: "meta", IdempotencyKey: "key"}); got.Text != "key" {
			t.Errorf("got %+v", got)
		}
		if got := mustCall(t, box, toolbox.Call{Server: "web", Tool: "fail"}); !got.IsError {
			t.Errorf("got %+v", got)
		}
		_, err := box.Call(t.Context(), toolbox.Call{Server: "web", Tool: "nothing"})
		wantKind(t, err, contract.KindToolFailed)
	})
}

func TestEveryKindOfServerTellsOfNewTools(t *testing.T) {
	eachKind(t, func(t *testing.T, s toolbox.Server) {
		box := openServers(t, s)
		box.Tools(t.Context())
		mustCall(t, box, toolbox.Call{Server: "web", Tool: "grow"})
		eventually(t, "the new tool appears", func() bool { return strings.Contains(names(box.Tools(t.Context())), "grown") })
	})
}

func TestEveryKindOfServerTellsOfProgress(t *testing.T) {
	eachKind(t, func(t *testing.T, s toolbox.Server) {
		box := openServers(t, s)
		if got := mustCall(t, box, toolbox.Call{Server: "web", Tool: "work"}); got.Text != "nobody asked" {
			t.Fatalf("got %+v", got)
		}
		steps := make(chan toolbox.Progress, 10)
		running := callAside(t.Context(), box, toolbox.Call{Server: "web", Tool: "work", Progress: func(p toolbox.Progress) { steps <- p }})
		if got := within(t, "progress", steps); got != (toolbox.Progress{Progress: 1, Total: 3, Message: "step"}) {
			t.Errorf("got %+v", got)
		}
		mustCall(t, box, toolbox.Call{Server: "web", Tool: "finish"})
		if got := within(t, "the result", running); got.err != nil || got.result.Text != "worked" {
			t.Errorf("got %+v", got)
		}
	})
}

func TestEveryKindOfServerHearsOfCancelledCalls(t *testing.T) {
	eachKind(t, func(t *testing.T, s toolbox.Server) {
		box := openServers(t, s)
		ctx, cancel := context.WithCancel(t.Context())
		entered := make(chan toolbox.Progress, 10)
		running := callAside(ctx, box, toolbox.Call{
			Server: "web", Tool: "wait", Destructive: true, Progress: func(p toolbox.Progress) { entered <- p },
		})
		within(t, "the tool runs", entered)
		cancel()
		wantKind(t, within(t, "the call returns", running).err, contract.KindOutcomeUnknown)
		eventually(t, "the tool stops", func() bool {
			return mustCall(t, box, toolbox.Call{Server: "web", Tool: "stopped"}).Text == "1"
		})
	})
}

func TestTheProtocolIsTheServers(t *testing.T) {
	for place, want := range map[*site]string{
		modernOnly(t, newHost()): "2026-07-28", legacyOnly(t, newHost()): "2025-11-25", serve(t, newHost()): "2025-11-25",
	} {
		box := openServers(t, place.server("web"))
		mustCall(t, box, toolbox.Call{Server: "web", Tool: "echo", Arguments: []byte(`{"text":"a"}`)})
		if got := place.requestsWith(toolsCall)[0].header.Get("Mcp-Protocol-Version"); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestAToolWithBadHeadersIsLeftOut(t *testing.T) {
	tool := func(name, header string) mcp.Tool {
		return mcp.NewToolWithRawSchema(name, "", fmt.Appendf(nil, `{"type":"object","properties":{"r":{"type":"string","x-mcp-header":%q}}}`, header))
	}
	hooks := &server.Hooks{} // mcp-go's server would not accept the malformed one
	hooks.AddAfterListTools(func(_ context.Context, _ any, _ *mcp.ListToolsRequest, r *mcp.ListToolsResult) {
		r.Tools = append(r.Tools, tool("bad", "not a header"))
	})
	m := server.NewMCPServer("headers", "1", server.WithHooks(hooks))
	m.AddTool(tool("good", "Region"), echo)
	place := modernOnly(t, m)
	box := openServers(t, place.server("web"))
	if got := names(box.Tools(t.Context())); got != "good" {
		t.Errorf("got %q", got)
	}
	mustCall(t, box, toolbox.Call{Server: "web", Tool: "good", Arguments: []byte(`{"r":"eu"}`)})
	if got := place.requestsWith(toolsCall)[0].header.Get("Mcp-Param-Region"); got != "eu" {
		t.Errorf("got %q", got)
	}
}

func TestAServerWithoutSessionsIsFoundAgain(t *testing.T) {
	place := modernOnly(t, newHost())
	box := openServers(t, place.server("web"))
	box.Tools(t.Context())
	eventually(t, "the client listens", func() bool { return len(place.requestsWith("subscriptions/listen")) == 1 })
	place.kill()
	eventually(t, "the loss is seen", func() bool { return !box.States()[0].Ready })
	m := newHost()
	m.AddTool(mcp.NewTool("new"), echo)
	place.startHandler(server.NewStreamableHTTPServer(m))
	eventually(t, "it is ready again, with its new tool", func() bool {
		return box.States()[0].Ready && strings.Contains(names(box.Tools(t.Context())), "new")
	})
}

func TestEveryKindOfServerIsLimited(t *testing.T) {
	eachKind(t, func(t *testing.T, s toolbox.Server) {
		for destructive, want := range sentKinds {
			callUntilSent(t, want, func(limit time.Duration) error {
				s.Timeout = limit
				box := openServers(t, s)
				box.Tools(t.Context())
				_, err := box.Call(t.Context(), toolbox.Call{Server: "web", Tool: "hang", Destructive: destructive})
				return err
			})
		}
	})
}

func TestEveryKindOfServerHasResourcesAndPrompts(t *testing.T) {
	eachKind(t, func(t *testing.T, s toolbox.Server) {
		box := openServers(t, s)
		resources, err := box.Resources(t.Context())
		if err != nil || len(resources) != 6 {
			t.Fatalf("got %+v, %v", resources, err)
		}
		if got, want := resources[1], (toolbox.Resource{Server: "web", URI: "note://1", Name: "note 1", MIMEType: "text/plain"}); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
		if got, want := resources[5], (toolbox.Resource{Server: "web", URI: "note://{n}", Name: "a note", Template: true}); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
		text, err := box.ReadResource(t.Context(), toolbox.Access{Server: "web"}, "note://3")
		if want := "text of note 3\n" + `{"type":"resource","mimeType":"image/png","uri":"note://3","size":5}`; err != nil || text.Text != want {
			t.Errorf("got %+v, %v", text, err)
		}
		_, err = box.ReadResource(t.Context(), toolbox.Access{Server: "web"}, "other://3")
		wantKind(t, err, contract.KindToolFailed)

		prompts, err := box.Prompts(t.Context())
		if err != nil || len(prompts) != 5 || prompts[4].Name != "greet4" || !prompts[4].Arguments[0].Required {
			t.Fatalf("got %+v, %v", prompts, err)
		}
		text, err = box.GetPrompt(t.Context(), toolbox.Access{Server: "web"}, "greet2", map[string]string{"who": "Ada"})
		if err != nil || text.Text != "user: Greet Ada.\n\nassistant: Gladly." {
			t.Errorf("got %+v, %v", text, err)
		}
	})
}
