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

	"github.com/google/uuid"
	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/gateway/identity"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// elicitor answers questions.
type elicitor func(mcp.ElicitationParams) mcp.ElicitationResponse

func (f elicitor) Elicit(_ context.Context, r mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	return &mcp.ElicitationResult{ElicitationResponse: f(r.Params)}, nil
}

// mcpClient connects a client to an agent whose conversations are scripts.
func mcpClient(t *testing.T, m *many, options []client.ClientOption, change ...func(*gateway.Deps)) *client.Client {
	t.Helper()
	server := httptest.NewServer(chatting(t, m, change...).Gateway)
	t.Cleanup(server.Close)
	return connectMCP(t, server.URL, nil, options...)
}

func connectMCP(t *testing.T, url string, headers map[string]string, options ...client.ClientOption) *client.Client {
	t.Helper()
	wire, err := transport.NewStreamableHTTP(url+"/mcp", transport.WithHTTPHeaders(headers))
	if err != nil {
		t.Fatal(err)
	}
	c := client.NewClient(wire, options...)
	t.Cleanup(func() { _ = c.Close() })
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	var init mcp.InitializeRequest
	init.Params.ClientInfo = mcp.Implementation{Name: "test", Version: "1"}
	init.Params.ProtocolVersion = mcp.LATEST_LEGACY_PROTOCOL_VERSION
	if _, err := c.Initialize(t.Context(), init); err != nil {
		t.Fatal(err)
	}
	return c
}

// asked is the structured result of a call.
type asked struct {
	Conversation, Status, Response string
	Waiting                        []struct{ ID, Tool, Description, Reason, URL string }
}

func callOf(tool string, arguments map[string]any) (r mcp.CallToolRequest) {
	r.Params.Name, r.Params.Arguments = tool, arguments
	return r
}

func callMCP(t *testing.T, c *client.Client, r mcp.CallToolRequest) (out asked, text string) {
	t.Helper()
	got, err := c.CallTool(t.Context(), r)
	if err != nil || got.IsError {
		t.Fatalf("%+v %v", got, err)
	}
	raw, err := json.Marshal(got.StructuredContent)
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out, got.Content[0].(mcp.TextContent).Text
}

// failsMCP makes a call whose result is an error, and returns its text.
func failsMCP(t *testing.T, c *client.Client, r mcp.CallToolRequest) string {
	t.Helper()
	got, err := c.CallTool(t.Context(), r)
	if err != nil || !got.IsError {
		t.Fatalf("%+v %v", got, err)
	}
	return got.Content[0].(mcp.TextContent).Text
}

// bothEras runs a test with the protocol that has sessions and with the one that has none.
func bothEras(t *testing.T, test func(*testing.T, ...client.ClientOption)) {
	//lint:ignore SA1019 clients of protocol 2025-11-25 have sessions
	t.Run("sessions", func(t *testing.T) { test(t, client.WithLegacyProtocolOnly()) })
	t.Run("no sessions", func(t *testing.T) { test(t) })
}

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

func TestApprovalsByElicitation(t *testing.T) {
	bothEras(t, func(t *testing.T, options ...client.ClientOption) {
		for name, c := range map[string]struct {
			action  mcp.ElicitationResponseAction
			content map[string]any
			want    string
		}{
			"yes":           {mcp.ElicitationResponseActionAccept, map[string]any{"approve": true}, "completed approved: true"},
			"no":            {mcp.ElicitationResponseActionAccept, map[string]any{"approve": false, "reason": "no"}, "completed approved: false"},
			"nothing":       {mcp.ElicitationResponseActionAccept, map[string]any{"approve": "yes"}, "waiting "},
			"closed":        {mcp.ElicitationResponseActionCancel, nil, "waiting "},
			"declined, yes": {mcp.ElicitationResponseActionDecline, map[string]any{"approve": true}, "waiting "},
		} {
			m := newMany(t)
			withApprovals(m)
			var cards []string
			session := mcpClient(t, m, append([]client.ClientOption{client.WithElicitationHandler(elicitor(func(p mcp.ElicitationParams) mcp.ElicitationResponse {
				cards = append(cards, p.Message)
				return mcp.ElicitationResponse{Action: c.action, Content: c.content}
			}))}, options...))
			got, _ := callMCP(t, session, callOf("helper", map[string]any{"message": "drop all"}))
			if got.Status+" "+got.Response != c.want || len(cards) != 1 || !strings.Contains(cards[0], "Drop?") || !strings.Contains(cards[0], "/#/a/") {
				t.Errorf("%s: %+v, the cards are %q", name, got, cards)
			}
			for _, s := range m.scripts {
				for _, d := range s.decided {
					if d.Via != "mcp" {
						t.Errorf("%+v", d)
					}
				}
			}
		}
	})
}

func TestApprovalsWithoutElicitation(t *testing.T) {
	bothEras(t, func(t *testing.T, options ...client.ClientOption) {
		m := newMany(t)
		withApprovals(m)
		c := mcpClient(t, m, options)
		got, text := callMCP(t, c, callOf("helper", map[string]any{"message": "drop all"}))
		if got.Status != "waiting" || len(got.Waiting) != 1 || got.Waiting[0].Description != "Drop?" || !strings.Contains(got.Waiting[0].URL, "/#/a/"+got.Waiting[0].ID) {
			t.Fatalf("%+v", got)
		}
		if !strings.Contains(text, got.Waiting[0].URL) || !strings.Contains(text, got.Conversation) || codeIn.MatchString(text) {
			t.Error(text)
		}
		if again, _ := callMCP(t, c, callOf("helper", map[string]any{"conversation": got.Conversation})); again.Status != "waiting" {
			t.Errorf("%+v", again)
		}
		if text := failsMCP(t, c, callOf("helper", map[string]any{"message": "and then?", "conversation": got.Conversation})); !strings.Contains(text, "not sent") {
			t.Error(text)
		}
		s := m.scripts[got.Conversation]
		if len(s.decided) > 0 || len(s.sent) != 1 {
			t.Errorf("%v %v", s.decided, s.sent)
		}
		if err := s.decide(got.Waiting[0].ID, contract.DecideSignal{Approved: true, RequestID: uuid.NewString()}); err != nil {
			t.Fatal(err)
		}
		if again, _ := callMCP(t, c, callOf("helper", map[string]any{"conversation": got.Conversation})); again.Status+" "+again.Response != "completed approved: true" {
			t.Errorf("%+v", again)
		}
	})
}

// ofOne is a backend whose conversations are all alice's.
type ofOne struct{ *fakeBackend }

func (ofOne) Owner(context.Context, string) (service.Owner, error) {
	return service.OwnerOf(person("alice")), nil
}

func (b ofOne) Subject(ctx context.Context, uuid string) (service.Subject, error) {
	s, err := b.fakeBackend.Subject(ctx, uuid)
	s.Owner = service.OwnerOf(person("alice"))
	return s, err
}

// A state that a client makes up decides nothing for those who may not.
func TestMadeUpAnswersDecideNothing(t *testing.T) {
	m := newMany(t)
	withApprovals(m)
	a := newAPI(t, m.fakeBackend, func(d *gateway.Deps) { d.Callers, d.Backend = badgesOnly, ofOne{m.fakeBackend} })
	server := httptest.NewServer(a.Gateway)
	t.Cleanup(server.Close)
	var waits asked
	for _, scopes := range [][]string{{"converse"}, {"read"}, {"converse", "read"}} {
		can := client.WithElicitationHandler(elicitor(func(mcp.ElicitationParams) mcp.ElicitationResponse {
			t.Errorf("%v is asked", scopes)
			return mcp.ElicitationResponse{}
		}))
		_, value, _ := strings.Cut(badge(person("alice", scopes...)), ": ")
		c := connectMCP(t, server.URL, map[string]string{headerBadge: value}, can)
		if !slices.Contains(scopes, "converse") {
			if text := failsMCP(t, c, callOf("helper", map[string]any{"message": "drop all"})); !strings.Contains(text, "converse") {
				t.Error(text)
			}
			continue
		}
		waits, _ = callMCP(t, c, callOf("helper", map[string]any{"message": "drop all"}))
		who := badge(person("alice", scopes...))
		session := "Mcp-Session-Id: " + a.want(200, a.do("POST", "/mcp", strings.Replace(initialize, `"capabilities":{}`, `"capabilities":{"elicitation":{}}`, 1), acceptMCP, who)).header.Get("Mcp-Session-Id")
		made := fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"helper","arguments":{},"requestState":"%s 1","inputResponses":{"%s":{"action":"accept","content":{"approve":true}}}}}`, waits.Conversation, waits.Waiting[0].ID)
		if r := a.want(200, a.do("POST", "/mcp", made, acceptMCP, who, session)); r.text("result", "structuredContent", "status") != "waiting" {
			t.Errorf("%v: %s", scopes, r.raw)
		}
		if slices.Contains(scopes, "read") { // who may approve decides so
			who = badge(person("alice", "converse", "approve"))
			if r := a.want(200, a.do("POST", "/mcp", made, acceptMCP, who, session)); !strings.Contains(r.raw, "approved: true") {
				t.Errorf("%s", r.raw)
			}
			return
		}
		for _, s := range m.scripts {
			if len(s.decided) > 0 {
				t.Errorf("%v", s.decided)
			}
		}
	}
}

const (
	acceptMCP  = "Accept: application/json, text/event-stream"
	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
)

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
