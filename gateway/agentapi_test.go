package gateway_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deletion"
)

// Each statement about what a client sends and gets, at the API and at the port of the shell.
func TestWhatClientsOfMCPAgentSendAndGet(t *testing.T) {
	a := agentAPIOf(t, newMany(t))
	a.submit("api-11112222", "hi")
	for name, test := range map[string]struct {
		on                 *httptest.Server
		method, path, body string
		status             int
		want               map[string]any
	}{
		"a message is accepted":          {a.api, "POST", "/api/v1/submit", `{"text":"hi","client_id":"api-aaaabbbb"}`, 200, map[string]any{"status": "accepted", "client_id": "api-aaaabbbb", "text": nil}},
		"a client may wait":              {a.api, "POST", "/api/v1/submit", `{"text":"hi","client_id":"api-ccccdddd","wait":true,"timeout":30}`, 200, map[string]any{"status": "complete", "text": "answer to hi"}},
		"unknown members are ignored":    {a.api, "POST", "/api/v1/submit", `{"text":"hi","swarm":true}`, 200, map[string]any{"status": "accepted"}},
		"no JSON":                        {a.api, "POST", "/api/v1/submit", `{`, 400, map[string]any{"error": "Invalid JSON"}},
		"no body":                        {a.api, "POST", "/api/v1/submit", ``, 400, map[string]any{"error": "Invalid JSON"}},
		"no text":                        {a.api, "POST", "/api/v1/submit", `{"client_id":"x"}`, 400, map[string]any{"error": "Missing 'text' field"}},
		"an empty text":                  {a.api, "POST", "/api/v1/submit", `{"text":" "}`, 400, map[string]any{"error": "Missing 'text' field"}},
		"a client_id that is no name":    {a.api, "POST", "/api/v1/submit", `{"text":"x","client_id":"a b"}`, 400, nil},
		"a timeout that is none":         {a.api, "POST", "/api/v1/submit", `{"text":"x","timeout":-1}`, 400, nil},
		"a number without a session":     {a.api, "POST", "/api/v1/submit", `{"text":"x","client_id":"999"}`, 404, map[string]any{"error": "session not found"}},
		"a command":                      {a.api, "POST", "/api/v1/submit", `{"text":"!nothing","client_id":"api-11112222","wait":true}`, 200, map[string]any{"status": "complete"}},
		"health":                         {a.api, "GET", "/api/v1/health", ``, 200, map[string]any{"status": "ok", "sessions": 3.0, "models.0": "demo:rules"}},
		"an unknown gate":                {a.api, "POST", "/api/v1/gate/" + someUUID, `{"approve":true}`, 404, map[string]any{"error": "unknown gate"}},
		"a gate that is no name":         {a.api, "POST", "/api/v1/gate/x", `{"approve":true}`, 404, map[string]any{"error": "unknown gate"}},
		"an answer that is none":         {a.api, "POST", "/api/v1/gate/" + someUUID, `{"approve":"yes"}`, 400, nil},
		"no answer":                      {a.api, "POST", "/api/v1/gate/" + someUUID, `{}`, 400, nil},
		"an unknown session":             {a.api, "DELETE", "/api/v1/session/nobody", ``, 404, map[string]any{"error": "session not found"}},
		"the stream of a number":         {a.api, "GET", "/api/v1/stream/999", ``, 404, map[string]any{"error": "session not found"}},
		"the shell's message":            {a.shell, "POST", "/submit", `{"text":"hi","client_id":"s","default_model":"gemini25"}`, 200, map[string]any{"status": "OK"}},
		"the shell's message, no JSON":   {a.shell, "POST", "/submit", `{`, 400, map[string]any{"status": "error"}},
		"the shell's message, no client": {a.shell, "POST", "/submit", `{"text":"hi"}`, 400, map[string]any{"error": "Missing fields"}},
		"the shell's stream, no client":  {a.shell, "GET", "/stream", ``, 400, map[string]any{"error": "Missing client_id"}},
		"the shell's unknown gate":       {a.shell, "POST", "/gate_response", `{"gate_id":"x","decision":"allow"}`, 404, map[string]any{"error": "unknown gate"}},
		"the shell's answer is none":     {a.shell, "POST", "/gate_response", `{"gate_id":"x","decision":"yes"}`, 400, nil},
		"the shell's health":             {a.shell, "GET", "/health", ``, 200, map[string]any{"status": "healthy", "models.0": "demo:rules"}},
		"the shell's unknown session":    {a.shell, "DELETE", "/session/nobody", ``, 404, map[string]any{"error": "session not found"}},
		"the shell looks for a session":  {a.shell, "GET", "/sessions?client_id=nobody", ``, 200, map[string]any{"sessions.0": nil}},
		"and finds it":                   {a.shell, "GET", "/sessions?client_id=api-11112222", ``, 200, map[string]any{"sessions.0.client_id": "api-11112222", "sessions.0.history_length": 2.0, "sessions.0.model": "demo:rules"}},

		// No port has the routes of another.
		"the API has no routes of the shell": {a.api, "POST", "/submit", `{"text":"hi","client_id":"s"}`, 404, nil},
		"nor of the gateway":                 {a.api, "GET", "/conversations", ``, 404, nil},
		"the shell has none of the API":      {a.shell, "POST", "/api/v1/submit", `{"text":"hi"}`, 404, nil},
		"nor of Ollama":                      {a.shell, "GET", "/api/tags", ``, 404, nil},
	} {
		t.Run(name, func(t *testing.T) {
			a := &agentAPI{many: &many{t: t}, api: a.api, shell: a.shell}
			got := a.do(test.status, test.on, test.method, test.path, test.body)
			for path, want := range test.want {
				if at(got, path) != want {
					t.Errorf("%s is %v, want %v in %v", path, at(got, path), want, got)
				}
			}
			if text, _ := got["error"].(string); test.status >= 400 && text == "" {
				t.Errorf("no error: %v", got)
			}
		})
	}
}

// Two people with the same client_id have two sessions, and see none of each other's.
func TestSessionsAreTheCallersOwn(t *testing.T) {
	m := newMany(t)
	a := agentAPIOf(t, m, func(d *gateway.Deps) { d.Callers = badgesOnly })
	rights := []string{"converse", "read", "approve"}
	alice, bob := badge(person("alice", rights...)), badge(person("bob", rights...))
	for _, who := range []string{alice, bob, alice} {
		a.do(200, a.api, "POST", "/api/v1/submit", `{"client_id":"api-same","text":"hi"}`, who)
	}
	if len(m.scripts) != 2 {
		t.Errorf("%d conversations", len(m.scripts))
	}
	body := `{"client_id":"api-same","text":"hi"}`
	a.do(401, a.api, "POST", "/api/v1/submit", body)
	a.do(401, a.api, "GET", "/api/v1/health", "")
	a.do(401, a.shell, "GET", "/health", "", "Authorization: Bearer x")
	a.do(403, a.api, "POST", "/api/v1/submit", body, badge(person("alice", "read")))
	a.do(403, a.api, "GET", "/api/v1/stream/api-same", "", badge(person("alice", "converse")))
	a.do(403, a.shell, "POST", "/submit", body, alice, "Origin: https://evil.example.com")
	a.do(415, a.shell, "POST", "/submit", body, alice, "Content-Type: text/plain")
}

// The name of the host is checked on these ports too, also for /health, which is a probe elsewhere.
func TestThePortsOfMCPAgentCheckTheHost(t *testing.T) {
	a := agentAPIOf(t, newMany(t))
	a.do(421, a.api, "GET", "/api/v1/health", "", "Host: evil.example.com")
	a.do(421, a.shell, "GET", "/health", "", "Host: evil.example.com")
}

// After its session was deleted, a client_id begins another one; so it does after !reset, which keeps
// the record.
func TestAClientBeginsAnew(t *testing.T) {
	m := newMany(t)
	var gone sync.Map // by ID
	var forgotten atomic.Bool
	isGone := func(id string) bool { _, ok := gone.Load(id); return ok }
	read := m.ConversationFn
	m.ConversationFn = func(id, request string) (contract.ConversationView, error) {
		if isGone(id) && forgotten.Load() {
			return contract.ConversationView{}, service.NoConversation(id)
		}
		if isGone(id) {
			return contract.ConversationView{}, service.Errorf(deletion.KindDeleted, "deleted")
		}
		v, err := read(id, request)
		if forgotten.Load() && v.Status == contract.StatusCompleted {
			return contract.ConversationView{}, service.NoConversation(id)
		}
		return v, err
	}
	m.DeleteFn = func(in deletion.Input) (deletion.Result, error) {
		gone.Store(in.ConversationID, true)
		return deletion.Result{Tombstone: &deletion.Tombstone{}}, nil
	}
	signal := m.SignalFn
	m.SignalFn = func(id, name string, payload any) error {
		if isGone(id) {
			return service.NoConversation(id)
		}
		if in, ok := payload.(contract.CloseSignal); ok {
			s := m.of(id)
			s.write(func(v *contract.ConversationView) { v.Status = contract.StatusCompleted })
			s.do(func() { s.settled[in.RequestID] = contract.Request{ID: in.RequestID, Settled: true} })
			return nil
		}
		return signal(id, name, payload)
	}
	a := agentAPIOf(t, m)
	ask := func(text string) any {
		return a.do(200, a.api, "POST", "/api/v1/submit", fmt.Sprintf(`{"client_id":"api-0","text":%q,"wait":true}`, text))["text"]
	}
	ask("one")
	list := a.do(200, a.api, "GET", "/api/v1/sessions", "")
	if at(list, "sessions.0.client_id") != "api-0" || at(list, "sessions.0.shorthand_id") != 101.0 {
		t.Fatalf("%v", list)
	}
	if got := a.do(200, a.api, "DELETE", "/api/v1/session/101", ""); got["status"] != "deleted" || got["client_id"] != "api-0" {
		t.Errorf("%v", got)
	}
	if got := ask("two"); got != "answer to two" || len(m.scripts) != 2 {
		t.Errorf("%v, %d conversations", got, len(m.scripts))
	}
	if got := ask("!reset\nthree"); !strings.HasSuffix(fmt.Sprint(got), "answer to three") || len(m.scripts) != 3 {
		t.Errorf("%v, %d conversations", got, len(m.scripts))
	}
	forgotten.Store(true) // the server has removed what has ended long ago, and another gateway is asked
	a = agentAPIOf(t, m)
	if got := ask("four"); got != "answer to four" || len(m.scripts) != 3 {
		t.Errorf("%v, %d conversations", got, len(m.scripts))
	}
}

// A conversation that has begun elsewhere is a session with its UUID.
func TestAConversationFromElsewhereIsASession(t *testing.T) {
	m := newMany(t)
	s := newScript()
	s.onMessage = s.answer
	m.scripts[someID] = s
	a := agentAPIOf(t, m)
	list := a.do(200, a.shell, "GET", "/sessions", "")
	if at(list, "sessions.0.client_id") != someID {
		t.Fatalf("%v", list)
	}
	for _, client := range []string{someID, "101", "#" + someID[:4]} {
		if got := a.do(200, a.api, "POST", "/api/v1/submit", `{"client_id":"`+client+`","text":"hi","wait":true}`); got["text"] != "answer to hi" {
			t.Errorf("%v", got)
		}
	}
	if len(m.scripts) != 1 || len(s.sent) != 3 {
		t.Errorf("%d conversations", len(m.scripts))
	}
}
