package gateway_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/gateway/live"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deletion"
	"agent-stop-and-go/workflows/contract/number"
)

// agentAPI has the ports for clients of MCP Agent.
type agentAPI struct {
	*many
	api, shell *httptest.Server
}

// numbering gives numbers like the workflow.
type numbering struct {
	mu    sync.Mutex
	state number.State
}

func (n *numbering) Of(_ context.Context, _ service.Caller, ids []string) (map[string]int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	out := map[string]int{}
	for _, g := range n.state.Give(ids).Numbers {
		out[g.ID] = g.N
	}
	return out, nil
}

func (n *numbering) Find(_ context.Context, _ service.Caller, of int) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.state.ID(of), nil
}

func agentAPIOf(t *testing.T, m *many, change ...func(*gateway.Deps)) *agentAPI {
	m.ApprovalFn = func(uuid string) (contract.ApprovalView, error) {
		s := m.by(uuid)
		for _, p := range s.view.Pending {
			if p.UUID == uuid {
				return contract.ApprovalView{Pending: p}, nil
			}
		}
		return s.approval(uuid)
	}
	m.AdmitFn = func(id string, q contract.ConversationQuery) (contract.ConversationView, error) {
		v, err := m.ConversationFn(id, q.RequestID)
		if err == nil && v.Request == nil && len(v.Pending) > 0 {
			v.Request = &contract.Request{ID: q.RequestID, Settled: true, Refused: contract.KindWaiting, Result: &contract.Result{Response: contract.Inline("it waits")}}
		}
		return v, err
	}
	start := m.StartFn
	m.StartFn = func(in service.StartInput) (service.StartResult, error) {
		out, err := start(in)
		if s := m.of(in.Conversation.ID); !out.Existed && err == nil {
			s.do(func() { s.view.SessionID = in.Conversation.SessionID })
		}
		return out, err
	}
	m.ListFn = func(q service.ListQuery) (page service.Page[service.Item], err error) {
		m.mu.Lock()
		defer m.mu.Unlock()
		for id, s := range m.scripts {
			if (q.Status == "" || s.view.Status == q.Status) && strings.HasPrefix(id, q.Prefix) {
				page.Items = append(page.Items, service.Item{ID: id, SessionID: s.started.SessionID, Status: s.view.Status, CreatedAt: s.view.CreatedAt})
			}
		}
		slices.SortFunc(page.Items, func(a, b service.Item) int { return b.CreatedAt.Compare(a.CreatedAt) })
		return page, nil
	}
	m.SummaryFn = func() (service.Summary, error) { return service.Summary{Active: 2, WaitingApproval: 1}, nil }
	fast := func(d *gateway.Deps) {
		d.Pace = live.Pace{Running: 5 * time.Millisecond, Idle: 5 * time.Millisecond, Again: time.Millisecond}
		d.Numbers, d.Port = &numbering{}, 8080
	}
	g := newAPI(t, m.fakeBackend, append([]func(*gateway.Deps){fast}, change...)...)
	a := &agentAPI{many: m, api: httptest.NewServer(g.AgentAPI()), shell: httptest.NewServer(g.Shell())}
	t.Cleanup(a.api.Close)
	t.Cleanup(a.shell.Close)
	return a
}

// do sends a request to a port, and returns the reply.
func (a *agentAPI) do(status int, on *httptest.Server, method, path, body string, headers ...string) map[string]any {
	a.t.Helper()
	r, err := http.NewRequest(method, on.URL+path, strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if r.Header.Set(name, value); name == "Host" {
			r.Host = value
		}
	}
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		a.t.Fatal(err)
	}
	defer w.Body.Close()
	data, err := io.ReadAll(w.Body)
	if err != nil || w.StatusCode != status {
		a.t.Fatalf("%s %s %s: %d %s %v", method, path, body, w.StatusCode, data, err)
	}
	var out map[string]any
	if err := json.Unmarshal(data, &out); err != nil {
		a.t.Fatalf("%s %s: %v in %s", method, path, err, data)
	}
	return out
}

func (a *agentAPI) submit(client, text string) {
	a.t.Helper()
	a.do(200, a.api, "POST", "/api/v1/submit", fmt.Sprintf(`{"client_id":%q,"text":%q}`, client, text))
}

// tokens is an open stream.
type tokens struct {
	t     *testing.T
	lines *bufio.Scanner
	stop  context.CancelFunc
}

func (a *agentAPI) stream(on *httptest.Server, path string, headers ...string) *tokens {
	a.t.Helper()
	ctx, stop := context.WithTimeout(a.t.Context(), 20*time.Second)
	a.t.Cleanup(stop)
	r, err := http.NewRequestWithContext(ctx, "GET", on.URL+path, nil)
	if err != nil {
		a.t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { w.Body.Close() })
	if w.StatusCode != 200 || w.Header.Get("Content-Type") != "text/event-stream" {
		a.t.Fatalf("%s: %d %s", path, w.StatusCode, w.Header)
	}
	return &tokens{a.t, bufio.NewScanner(w.Body), stop}
}

// until reads events as AgentClient and the shell do, up to one with a name, and returns the text before
// it, and its data.
func (s *tokens) until(name string) (text, data string) {
	s.t.Helper()
	event := ""
	for s.lines.Scan() {
		line := strings.TrimSpace(s.lines.Text())
		if line == "" {
			event = ""
		} else if after, ok := strings.CutPrefix(line, "event:"); ok {
			event = strings.TrimSpace(after)
		}
		after, ok := strings.CutPrefix(line, "data:")
		after = strings.TrimPrefix(after, " ")
		switch {
		case !ok:
		case event == name:
			return text, after
		case event == "tok":
			var piece struct{ Text string }
			if err := json.Unmarshal([]byte(after), &piece); err != nil {
				s.t.Fatal(err)
			}
			text += piece.Text
		case event == "": // of the shell
			text += strings.ReplaceAll(after, `\n`, "\n")
		default:
			s.t.Fatalf("%s %s, want %s; before it %q", event, after, name, text)
		}
	}
	s.t.Fatalf("the stream has ended without %s, after %q: %v", name, text, s.lines.Err())
	return "", ""
}

// Each statement about what a client sends and gets: CONTRACT B.5 for the API, B.2 for the shell.
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

		// No port has the routes of another (fault 36).
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

// AgentClient.stream sends a message, and then opens a stream which it reads to done (llmem-gw at
// edcf94a4, api_client.py). It must not get the turn before (fault 38).
func TestEachStreamOfAgentClientHasItsOwnTurn(t *testing.T) {
	a := agentAPIOf(t, newMany(t))
	for _, text := range []string{"one", "two", "three"} {
		a.submit("api-0000aaaa", text)
		s := a.stream(a.api, "/api/v1/stream/api-0000aaaa")
		if got, _ := s.until("done"); got != "answer to "+text {
			t.Errorf("%q", got)
		}
		s.stop()
	}
	if len(a.scripts) != 1 {
		t.Errorf("%d conversations", len(a.scripts))
	}
}

// The shell opens its stream before its first message and keeps it (llmem-gw, shell.py, sse_listener).
// Two of them get the same.
func TestTheShellKeepsItsStream(t *testing.T) {
	a := agentAPIOf(t, newMany(t))
	one, two := a.stream(a.shell, "/stream?client_id=tty"), a.stream(a.shell, "/stream?client_id=tty")
	for _, text := range []string{`C:\new`, "trailing ", "a\nb"} {
		a.do(200, a.shell, "POST", "/submit", fmt.Sprintf(`{"client_id":"tty","text":%q}`, text))
		for _, s := range []*tokens{one, two} {
			if got, _ := s.until("done"); strings.TrimSpace(got) != strings.TrimSpace("answer to "+text) {
				t.Errorf("%q", got)
			}
		}
	}
}

func TestAGateWaitsForItsAnswer(t *testing.T) {
	for _, approve := range []bool{true, false} {
		m := newMany(t)
		withApprovals(m)
		a := agentAPIOf(t, m)
		a.submit("api-1234abcd", "drop all")
		s := a.stream(a.api, "/api/v1/stream/api-1234abcd")
		text, data := s.until("gate")
		var g map[string]any
		if err := json.Unmarshal([]byte(data), &g); err != nil {
			t.Fatal(err)
		}
		if g["tool_name"] != "drop" || at(g, "tool_args.name") != "all" || at(g, "tool_args.operation_type") != "write" || at(g, "arguments.operation_type") != nil ||
			g["tables"] == nil || text != "\n[drop ▶] executing…\n" || !strings.Contains(fmt.Sprint(g["url"]), ":8080/#/a/") {
			t.Errorf("%q %s", text, data)
		}
		a.do(409, a.api, "POST", "/api/v1/submit", `{"client_id":"api-1234abcd","text":"and then?"}`)
		a.do(409, a.shell, "POST", "/submit", `{"client_id":"api-1234abcd","text":"!new"}`)
		waited := a.do(200, a.api, "GET", "/api/v1/sessions", "")
		if at(waited, "sessions.0.shorthand_id") != 101.0 {
			t.Errorf("%v", waited)
		}
		path := fmt.Sprint("/api/v1/gate/", g["gate_id"])
		for range 2 { // sent again, the answer is the same
			if got := a.do(200, a.api, "POST", path, fmt.Sprintf(`{"approve":%t}`, approve)); got["status"] != "ok" {
				t.Errorf("%v", got)
			}
		}
		if got := a.do(409, a.api, "POST", path, fmt.Sprintf(`{"approve":%t}`, !approve)); !strings.Contains(fmt.Sprint(got["error"]), "already") || len(got) != 1 {
			t.Errorf("%v", got)
		}
		want := fmt.Sprintf("approved: %t", approve)
		if !approve {
			want = "\n[REJECTED] add call was denied by user.\n" + want
		}
		if got, _ := s.until("done"); !strings.HasSuffix(got, fmt.Sprintf("approved: %t", approve)) || strings.Contains(got, "[REJECTED]") == approve {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// What is not shown whole is rejected there, and approved only where it is.
func TestAGateTakesNoYesToWhatItDoesNotShow(t *testing.T) {
	m := newMany(t)
	withApprovals(m)
	a := agentAPIOf(t, m)
	a.submit("api-1234abcd", "drop all")
	_, data := a.stream(a.api, "/api/v1/stream/api-1234abcd").until("gate")
	var g map[string]any
	if err := json.Unmarshal([]byte(data), &g); err != nil {
		t.Fatal(err)
	}
	uuid := fmt.Sprint(g["gate_id"])
	m.by(uuid).write(func(v *contract.ConversationView) { v.Pending[0].Explanation = contract.Inline("because") })
	path := "/api/v1/gate/" + uuid
	if got := a.do(400, a.api, "POST", path, `{"approve":true}`); !strings.Contains(fmt.Sprint(got["error"]), "not all of this is shown here") {
		t.Errorf("%v", got)
	}
	a.do(200, a.api, "POST", path, `{"approve":false}`)
}

// Nobody answers in time: the gate stays open, and the client is told what waits (faults 37 and B.8).
func TestAWaitingClientRejectsNothing(t *testing.T) {
	m := newMany(t)
	withApprovals(m)
	a := agentAPIOf(t, m)
	got := a.do(200, a.api, "POST", "/api/v1/submit", `{"client_id":"api-w","text":"drop all","wait":true,"timeout":0.05}`)
	if text := fmt.Sprint(got["text"]); got["status"] != "timeout" || !strings.Contains(text, "Drop?") || !strings.Contains(text, "/#/a/") {
		t.Errorf("%v", got)
	}
	for _, s := range m.scripts {
		if len(s.decided) != 0 || len(s.view.Pending) != 1 {
			t.Errorf("%v", s.decided)
		}
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
	gone, forgotten := map[string]bool{}, false
	read := m.ConversationFn
	m.ConversationFn = func(id, request string) (contract.ConversationView, error) {
		if gone[id] && forgotten {
			return contract.ConversationView{}, service.NoConversation(id)
		}
		if gone[id] {
			return contract.ConversationView{}, service.Errorf(deletion.KindDeleted, "deleted")
		}
		v, err := read(id, request)
		if forgotten && v.Status == contract.StatusCompleted {
			return contract.ConversationView{}, service.NoConversation(id)
		}
		return v, err
	}
	m.DeleteFn = func(in deletion.Input) (deletion.Result, error) {
		gone[in.ConversationID] = true
		return deletion.Result{Tombstone: &deletion.Tombstone{}}, nil
	}
	signal := m.SignalFn
	m.SignalFn = func(id, name string, payload any) error {
		if gone[id] {
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
	forgotten = true // the server has removed what has ended long ago, and another gateway is asked
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

// What a command answers reaches the stream that is opened after it, and the model nothing.
func TestCommandsAreAnsweredInStreams(t *testing.T) {
	m := newMany(t)
	a := agentAPIOf(t, m)
	a.submit("api-c", "hi")
	a.submit("api-c", "!help")
	s := a.stream(a.api, "/api/v1/stream/api-c")
	if got, _ := s.until("done"); !strings.HasPrefix(got, "Commands:") || strings.Contains(got, "answer to hi") {
		t.Errorf("%q", got)
	}
	a.submit("api-c", "!help\nand you?")
	if got, _ := s.until("done"); !strings.HasPrefix(got, "Commands:") || !strings.HasSuffix(got, "answer to and you?") {
		t.Errorf("%q", got)
	}
	if sent := m.sent(); len(sent) != 2 {
		t.Errorf("%q", sent)
	}
}
