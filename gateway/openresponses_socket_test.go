package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/gateway/identity"
	"agent-stop-and-go/gateway/quota"
	"agent-stop-and-go/workflows/contract"
)

// socketClient is a WebSocket of a client.
type socketClient struct {
	t    *testing.T
	conn *websocket.Conn
}

// connected serves a gateway, and returns how to connect to it.
func connected(t *testing.T, m *many, change ...func(*gateway.Deps)) func(headers ...string) socketClient {
	server := httptest.NewServer(chatting(t, m, change...))
	t.Cleanup(server.Close)
	return func(headers ...string) socketClient {
		t.Helper()
		conn, r, err := dial(t, server.URL, headers...)
		if err != nil {
			t.Fatal(err, r)
		}
		t.Cleanup(func() { _ = conn.CloseNow() })
		return socketClient{t, conn}
	}
}

func dial(t *testing.T, url string, headers ...string) (*websocket.Conn, *http.Response, error) {
	h := http.Header{}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		h.Set(name, value)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	conn, r, err := websocket.Dial(ctx, url+"/v1/responses", &websocket.DialOptions{HTTPHeader: h})
	if err == nil {
		conn.SetReadLimit(1 << 20)
	}
	return conn, r, err
}

func (s socketClient) send(body string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 10*time.Second)
	defer cancel()
	if err := s.conn.Write(ctx, websocket.MessageText, []byte(body)); err != nil {
		s.t.Fatal(err)
	}
}

func (s socketClient) read() (e map[string]any) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 10*time.Second)
	defer cancel()
	kind, data, err := s.conn.Read(ctx)
	if err != nil || kind != websocket.MessageText {
		s.t.Fatal(kind, err)
	}
	if err := json.Unmarshal(data, &e); err != nil {
		s.t.Fatal(err, string(data))
	}
	return e
}

// turn reads the events of a response, up to its end or to an error.
func (s socketClient) turn() (all []map[string]any) {
	s.t.Helper()
	for {
		e := s.read()
		all = append(all, e)
		switch e["type"] {
		case "response.completed", "response.failed", "response.incomplete", "error":
			return all
		}
	}
}

// ask sends a request, and returns the response.
func (s socketClient) ask(members string) map[string]any {
	s.t.Helper()
	s.send(`{"type":"response.create","model":"helper",` + members + `}`)
	return wantEvents(s.t, s.turn(), 0, "completed")
}

// refused sends a message, and checks the error and its code.
func (s socketClient) refused(body, code string) {
	s.t.Helper()
	s.send(body)
	all := s.turn()
	wantShape(s.t, "SocketError", all[0])
	if e, _ := all[0]["error"].(map[string]any); len(all) != 1 || e["code"] != code || e["message"] == "" {
		s.t.Errorf("%s: %v, want %s", body, all, code)
	}
}

// Two turns on a connection (websocket-response, websocket-sequential-responses).
func TestORSocket(t *testing.T) {
	m := newMany(t)
	open := connected(t, m)
	s := open("Authorization: Bearer anything", "Content-Type: application/json")
	for _, body := range []string{`"input":[{"type":"message","role":"user","content":"Count from 1 to 3."}]`, `"store":false,"input":"first"`, `"store":false,"input":"second"`} {
		if r := s.ask(body); r["status"] != "completed" || len(r["output"].([]any)) != 1 {
			t.Errorf("%v", r)
		}
	}
	if len(m.scripts) != 3 {
		t.Errorf("%d conversations", len(m.scripts))
	}
}

func TestORSocketRequests(t *testing.T) {
	s := connected(t, newMany(t))()
	const create = `{"type":"response.create","model":"helper",`
	s.refused(`{"model":"helper","input":"hi"}`, "invalid")
	s.refused(`{"type":"session.update"}`, "invalid")
	s.refused(`hi`, "invalid")
	s.refused(create+`"input":"hi","background":true}`, "invalid")
	s.refused(create+`"input":"hi","generate":false}`, "invalid")
	s.refused(create+`"input":""}`, "invalid")
	s.refused(`{"type":"response.create","model":"gpt-4o","input":"hi"}`, "model_not_found")
	s.refused(create+`"store":false,"previous_response_id":"resp_missing_1","input":"hi"}`, "previous_response_not_found")
	if r := s.ask(`"input":"hi","stream":false,"stream_options":{"include_obfuscation":false}`); r["status"] != "completed" {
		t.Errorf("%v", r)
	}
}

// websocket-continuation, websocket-reconnect-store-false-recovery, websocket-previous-response-not-found.
func TestORSocketContinues(t *testing.T) {
	m := newMany(t)
	open := connected(t, m)
	s := open()
	first := s.ask(`"store":false,"input":"Remember cobalt."`)
	second := s.ask(fmt.Sprintf(`"store":false,"input":"Which word?","previous_response_id":%q`, first["id"]))
	if len(m.scripts) != 1 || second["previous_response_id"] != first["id"] {
		t.Errorf("%d conversations, %v", len(m.scripts), second)
	}
	other := open()
	other.refused(fmt.Sprintf(`{"type":"response.create","store":false,"input":"hi","previous_response_id":%q}`, second["id"]), "previous_response_not_found")
	other.ask(`"store":false,"input":[{"type":"message","role":"user","content":"Start again."}]`)
	stored := s.ask(`"input":"Remember nickel."`)
	if again := other.ask(fmt.Sprintf(`"input":"Which word?","previous_response_id":%q`, stored["id"])); again["previous_response_id"] != stored["id"] {
		t.Errorf("%v", again)
	}
}

// websocket-failed-continuation-evicts-cache.
func TestORSocketForgets(t *testing.T) {
	s := connected(t, newMany(t))()
	first := s.ask(`"store":false,"input":"Remember ember."`)
	after := fmt.Sprintf(`{"type":"response.create","store":false,"previous_response_id":%q,"input":`, first["id"])
	s.refused(after+`[{"type":"function_call_output","call_id":"call_missing","output":"nothing"}]}`, "invalid")
	s.refused(after+`"go on"}`, "previous_response_not_found")
}

// A request that comes while another one runs waits; of too many the last are refused.
// What waits at a connection is bounded in bytes too.
func TestWhatWaitsAtASocketIsBounded(t *testing.T) {
	m := newMany(t)
	begun, end := make(chan struct{}, 9), make(chan struct{})
	m.work = func(s *script) func(contract.MessageSignal) {
		return func(msg contract.MessageSignal) {
			s.begin(msg)
			begun <- struct{}{}
			go func() {
				<-end
				s.do(func() { s.finish(msg, "done") })
			}()
		}
	}
	s := connected(t, m)()
	defer close(end)
	s.send(`{"type":"response.create","input":"first"}`)
	<-begun
	for range 2 {
		s.send(`{"type":"response.create","input":"` + strings.Repeat("x", 5<<20) + `"}`)
	}
	late := s.read()
	for late["type"] != "error" {
		late = s.read()
	}
	if late["status"] != 429.0 {
		t.Errorf("%v", late)
	}
}

func TestORSocketQueues(t *testing.T) {
	m := newMany(t)
	begun, go_on := make(chan string, 9), make(chan struct{})
	m.work = func(s *script) func(contract.MessageSignal) {
		return func(msg contract.MessageSignal) {
			s.begin(msg)
			begun <- msg.Text.Inline
			go func() {
				<-go_on
				s.do(func() { s.finish(msg, "done") })
			}()
		}
	}
	s := connected(t, m)()
	for n := range 6 {
		s.send(fmt.Sprintf(`{"type":"response.create","input":"request %d"}`, n))
		if n == 0 {
			<-begun
		}
	}
	late := s.read()
	for late["type"] != "error" {
		late = s.read()
	}
	wantShape(t, "SocketError", late)
	if len(begun) > 0 {
		t.Errorf("%d run at once", len(begun)+1)
	}
	for n := range 5 {
		go_on <- struct{}{}
		for s.read()["type"] != "response.completed" {
		}
		if n < 4 {
			<-begun
		}
	}
}

func TestORSocketEnds(t *testing.T) {
	open := connected(t, newMany(t), func(d *gateway.Deps) { d.SocketLifetime = time.Millisecond })
	s := open()
	e := s.read()
	wantShape(t, "SocketError", e)
	if inside, _ := e["error"].(map[string]any); inside["code"] != "websocket_connection_limit_reached" {
		t.Errorf("%v", e)
	}
	if _, _, err := s.conn.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusNormalClosure {
		t.Error(err)
	}
}

// A page of another origin could read what comes over a WebSocket, so it cannot open one.
func TestASocketIsForOwnPages(t *testing.T) {
	server := httptest.NewServer(chatting(t, newMany(t), func(d *gateway.Deps) { d.AllowedOrigins = []string{"https://chat.example.com"} }))
	defer server.Close()
	for origin, want := range map[string]int{server.URL: 101, "https://chat.example.com": 101, "http://localhost:1": 403, "https://evil.example.com": 403, "null": 403} {
		conn, r, err := dial(t, server.URL, "Origin: "+origin)
		if err == nil {
			_ = conn.CloseNow()
		}
		if r == nil || r.StatusCode != want {
			t.Errorf("%s: %v %v", origin, r, err)
		}
	}
}

// A connection ends with the proof of its caller.
func TestASocketEndsWithItsProof(t *testing.T) {
	a, way := newFadingAPI(t)
	server := httptest.NewServer(a)
	defer server.Close()
	conn, _, err := dial(t, server.URL, badge(identities["alice"]))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	gone := func(contract.Identity) (contract.Identity, error) {
		return contract.Identity{}, &identity.Refused{Reason: "revoked"}
	}
	way.IdentifyFn.Store(&gone)
	if _, _, err := conn.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusPolicyViolation {
		t.Error(err)
	}
}

func TestASocketEndsWithTheGateway(t *testing.T) {
	c := chatting(t, newMany(t))
	server := httptest.NewServer(c)
	defer server.Close()
	conn, _, err := dial(t, server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	c.Close()
	if _, _, err := conn.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Error(err)
	}
}

// Each turn counts as a request of the caller, besides the one that opens the connection.
func TestTurnsOfASocketAreLimited(t *testing.T) {
	m := newMany(t)
	open := connected(t, m, func(d *gateway.Deps) {
		d.Backend, d.Callers = tenancy{d.Backend.(*fakeBackend), &sync.Map{}}, badgesOnly
		d.Quota = quota.New(quota.Options{Limits: quota.Limits{Requests: 1, Burst: 2}, Logger: d.Logger})
	})
	s := open(badge(person("alice", "converse")))
	s.send(`{"type":"response.create","input":"hi","model":"none"}`) // counts too
	if e := s.read(); e["status"] != 404.0 {
		t.Errorf("%v", e)
	}
	s.refused(`{"type":"response.create","input":"hi"}`, "busy")
}
