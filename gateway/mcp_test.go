package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/gateway/identity"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

func TestTheAgentIsAnMCPServer(t *testing.T) {
	bothEras(t, func(t *testing.T, options ...client.ClientOption) {
		m := newMany(t)
		c := mcpClient(t, m, options, func(d *gateway.Deps) {
			d.Agent.Tree = &contract.Node{Type: contract.NodeParallel, Nodes: []contract.Node{{Name: "look up", Type: contract.NodeLLM, Model: "m"}}}
		})
		tools, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
		if err != nil || len(tools.Tools) != 2 || tools.Tools[0].Name != "helper" || tools.Tools[1].Name != "helper_look_up" || *tools.Tools[0].Annotations.DestructiveHint {
			t.Fatalf("%+v %v", tools, err)
		}
		first, text := callMCP(t, c, callOf("helper", map[string]any{"message": "hi"}))
		second, _ := callMCP(t, c, callOf("helper", map[string]any{"message": "more", "conversation": first.Conversation}))
		if text != "answer to hi" || first.Response != text || second.Response != "answer to more" || first.Status != "completed" || len(m.scripts) != 1 {
			t.Errorf("%+v %q %+v", first, text, second)
		}
		again, _ := callMCP(t, c, callOf("helper", map[string]any{"conversation": first.Conversation}))
		if again.Response != "answer to more" || len(m.sent()) != 2 {
			t.Errorf("%+v, sent %q", again, m.sent())
		}
		node, _ := callMCP(t, c, callOf("helper_look_up", map[string]any{"message": "hi"}))
		if root := m.scripts[node.Conversation].started.Agent.Root(); root.Name != "look up" {
			t.Errorf("%+v", root)
		}
		for _, arguments := range []map[string]any{{}, {"message": 1}, {"message": "x", "conversation": "y"}, {"message": "x", "conversation": otherID}, {"message": "x", "mesage": "y"}} {
			if text := failsMCP(t, c, callOf("helper", arguments)); strings.Contains(text, service.InternalText) {
				t.Errorf("%v: %s", arguments, text)
			}
		}
	})
}

// mcp-go drops a notification now and then that comes just before the result, which has all of it.
func TestTheTextComesAsProgress(t *testing.T) {
	bothEras(t, func(t *testing.T, options ...client.ClientOption) {
		c := mcpClient(t, newMany(t), options)
		var mu sync.Mutex
		var told []string
		c.OnNotification(func(n mcp.JSONRPCNotification) {
			mu.Lock()
			defer mu.Unlock()
			message, _ := n.Params.AdditionalFields["message"].(string)
			told = append(told, message)
		})
		said := func() []string {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(told)
		}
		for range 20 {
			r := callOf("helper", map[string]any{"message": "hi"})
			r.Params.Meta = &mcp.Meta{ProgressToken: "p"}
			callMCP(t, c, r)
			if list := said(); len(list) > 0 {
				if list[0] != "answer to hi" {
					t.Errorf("progress is %q", list)
				}
				return
			}
		}
		t.Error("20 calls had no progress")
	})
}

func TestACallWithItsKeyRunsOnce(t *testing.T) {
	m := newMany(t)
	c := mcpClient(t, m, nil)
	keyed := func(message, key string) mcp.CallToolRequest {
		r := callOf("helper", map[string]any{"message": message})
		r.Params.Meta = &mcp.Meta{AdditionalFields: map[string]any{"agent-stop-and-go/idempotency-key": key}}
		return r
	}
	first, _ := callMCP(t, c, keyed("hi", "1"))
	again, _ := callMCP(t, c, keyed("hi", "1"))
	other, _ := callMCP(t, c, keyed("hi", "2"))
	if again.Conversation != first.Conversation || again.Response != "answer to hi" || other.Conversation == first.Conversation || len(m.sent()) != 2 {
		t.Errorf("%+v %+v %+v, sent %q", first, again, other, m.sent())
	}
	if text := failsMCP(t, c, keyed("ho", "1")); !strings.Contains(text, "another call") {
		t.Error(text)
	}
}

// A session of somebody is nobody else's.
func TestASessionIsForOneCaller(t *testing.T) {
	a := newAPI(t, newMany(t).fakeBackend, func(d *gateway.Deps) {
		d.Callers, d.Methods = badgesOnly, []identity.Method{{Type: "oidc", Issuer: "https://login.example.com"}}
	})
	alice, bob := badge(person("alice", "converse", "read")), badge(person("bob", "converse", "read"))
	r := a.want(200, a.do("POST", "/mcp", initialize, acceptMCP, alice))
	session := "Mcp-Session-Id: " + r.header.Get("Mcp-Session-Id")
	const list = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	a.want(404, a.do("POST", "/mcp", list, acceptMCP, bob, session))
	a.want(404, a.do("DELETE", "/mcp", "", bob, session))
	a.want(404, a.do("GET", "/mcp", "", "Accept: text/event-stream", bob, session))
	a.want(200, a.do("POST", "/mcp", list, acceptMCP, alice, session))
	a.want(400, a.do("POST", "/mcp", list, acceptMCP, alice, "Mcp-Session-Id: made-up"))
	a.want(401, a.do("POST", "/mcp", list, acceptMCP, session))
	a.want(403, a.do("POST", "/mcp", initialize, acceptMCP, alice, "Origin: https://evil.example.com"))
	r = a.want(200, a.do("GET", "/.well-known/oauth-protected-resource/mcp", ""))
	if r.text("resource") != "http://localhost:8080/mcp" || fmt.Sprint(r.at("authorization_servers")) != "[https://login.example.com]" {
		t.Error(r.raw)
	}
	if r = a.do("POST", "/mcp", "", acceptMCP); !strings.Contains(r.header.Get("WWW-Authenticate"), `resource_metadata="http://localhost:8080/.well-known/oauth-protected-resource/mcp"`) {
		t.Errorf("%v", r.header)
	}
	if r = a.do("GET", "/me", ""); strings.Contains(r.header.Get("WWW-Authenticate"), "resource_metadata") {
		t.Errorf("%v", r.header)
	}
	for range 100 { // one too many, which ends the idlest
		a.want(200, a.do("POST", "/mcp", initialize, acceptMCP, alice))
	}
	a.want(404, a.do("POST", "/mcp", list, acceptMCP, alice, session))
	keys := newAPI(t, newMany(t).fakeBackend, func(d *gateway.Deps) { d.Callers = badgesOnly })
	keys.want(404, keys.do("GET", "/.well-known/oauth-protected-resource", ""))
}

// Without authentication, a client that works for several people sends other headers with each call.
func TestASessionWithoutAuthenticationIsForEverybody(t *testing.T) {
	a := newAPI(t, newMany(t).fakeBackend)
	session := "Mcp-Session-Id: " + a.want(200, a.do("POST", "/mcp", initialize, acceptMCP)).header.Get("Mcp-Session-Id")
	a.want(200, a.do("POST", "/mcp", `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, acceptMCP, session, "X-Session-ID: s1", "Authorization: Bearer t"))
}

func TestConversationsAreResourcesOfTheirCaller(t *testing.T) {
	a := newTenancyAPI(t)
	server := httptest.NewServer(a.Gateway)
	t.Cleanup(server.Close)
	as := func(i contract.Identity) *client.Client {
		_, value, _ := strings.Cut(badge(i), ": ")
		return connectMCP(t, server.URL, map[string]string{headerBadge: value})
	}
	read := func(c *client.Client, uri string) (string, error) {
		var r mcp.ReadResourceRequest
		r.Params.URI = uri
		got, err := c.ReadResource(t.Context(), r)
		if err != nil {
			return "", err
		}
		raw, err := json.Marshal(got.Contents)
		return string(raw), err
	}
	bob := as(person("bob", "converse", "read"))
	list, err := bob.ListResources(t.Context(), mcp.ListResourcesRequest{})
	if err != nil || len(list.Resources) != 1 || list.Resources[0].URI != "conversation://"+ofBob.id {
		t.Errorf("%+v %v", list, err)
	}
	if text, err := read(bob, "conversation://"+ofBob.id); err != nil || !strings.Contains(text, "crimson") {
		t.Errorf("%s %v", text, err)
	}
	if text, err := read(bob, "conversation://"+ofBob.id+"/files/"+ofSum); err != nil || !strings.Contains(text, "YSBmaWxl") {
		t.Errorf("%s %v", text, err)
	}
	for _, uri := range []string{"conversation://" + ofAlice.id, "conversation://" + ofAlice.id + "/files/" + ofSum, "conversation://" + ofBob.id + "/files/" + strings.Repeat("0", 64), "conversation://x", "conversation://" + otherID} {
		if text, err := read(bob, uri); err == nil || strings.Contains(err.Error(), "internal") {
			t.Errorf("%s: %s %v", uri, text, err)
		}
	}
	var bad mcp.ListResourcesRequest
	bad.Params.Cursor = "bm8="
	if list, err := bob.ListResources(t.Context(), bad); err == nil {
		t.Errorf("%+v", list)
	}
	writer := as(person("bob", "converse"))
	if list, err := writer.ListResources(t.Context(), mcp.ListResourcesRequest{}); err != nil || len(list.Resources) != 0 {
		t.Errorf("%+v %v", list, err)
	}
	if text, err := read(writer, "conversation://"+ofBob.id); err == nil {
		t.Error(text)
	}
}

// A call whose connection is lost goes on. The client may cancel it all the same.
func TestALostCallGoesOnUntilItIsCancelled(t *testing.T) {
	m := newMany(t)
	began, stopped := make(chan *script, 1), make(chan string, 1)
	m.work = func(s *script) func(contract.MessageSignal) {
		return func(msg contract.MessageSignal) {
			s.begin(msg)
			began <- s
		}
	}
	signal := m.SignalFn
	m.SignalFn = func(id, name string, payload any) error {
		if c, ok := payload.(contract.CancelSignal); ok {
			stopped <- c.Reason
			return nil
		}
		return signal(id, name, payload)
	}
	a := newAPI(t, m.fakeBackend)
	r := a.want(200, a.do("POST", "/mcp", initialize, acceptMCP))
	session := "Mcp-Session-Id: " + r.header.Get("Mcp-Session-Id")
	cancelled := func(id string) string {
		return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `,"reason":"x` + strings.Repeat("é", 2000) + `"}}`
	}
	lost, lose := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		body := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"helper","arguments":{"message":"work"}}}`
		a.ServeHTTP(httptest.NewRecorder(), newRequest("POST", "/mcp", body, acceptMCP, session).WithContext(lost))
	}()
	s := <-began
	lose()
	<-done
	a.want(202, a.do("POST", "/mcp", cancelled("8"), acceptMCP, session))
	select {
	case <-stopped:
		t.Fatal("another call is cancelled")
	case <-time.After(10 * time.Millisecond):
	}
	if !s.view.Running {
		t.Error("the turn is over")
	}
	a.want(202, a.do("POST", "/mcp", cancelled("7"), acceptMCP, session))
	select {
	case reason := <-stopped:
		if reason != "x"+strings.Repeat("é", 999) { // 2000 bytes at most, and whole characters
			t.Errorf("%d bytes, which end with %q", len(reason), reason[len(reason)-3:])
		}
	case <-time.After(10 * time.Second):
		t.Error("the turn is not cancelled")
	}
}
