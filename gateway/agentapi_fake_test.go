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
	err   error // of Of
}

func (n *numbering) Of(_ context.Context, _ service.Caller, ids []string) (map[string]int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.err != nil {
		return nil, n.err
	}
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

// text reads up to a token with a text in it, before which there is no other event.
func (s *tokens) text(part string) {
	s.t.Helper()
	event := ""
	for s.lines.Scan() {
		line := s.lines.Text()
		if after, ok := strings.CutPrefix(line, "event: "); ok {
			event = after
		}
		after, ok := strings.CutPrefix(line, "data: ")
		switch {
		case ok && event != "tok":
			s.t.Fatalf("%s %s, want %q", event, after, part)
		case ok && strings.Contains(after, part):
			return
		}
	}
	s.t.Fatalf("the stream has ended without %q: %v", part, s.lines.Err())
}
