package peer_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"agent-stop-and-go/activities/peer"
	"agent-stop-and-go/workflows/contract"
)

// site serves cards at paths, and answers every POST with its path and protocol.
type site struct {
	*httptest.Server
	mu    sync.Mutex
	pages map[string]any // an int is a status
	gets  []string
	auth  []string
}

func newSite(t *testing.T, pages map[string]any) *site {
	t.Helper()
	s := &site{pages: pages}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		var in request
		_ = json.NewDecoder(r.Body).Decode(&in)
		task := taskOf("completed", in.Method+" "+r.URL.RequestURI())
		task["kind"] = "task"
		if strings.HasPrefix(in.Method, "S") {
			rpc(w, in, map[string]any{"task": task})
			return
		}
		rpc(w, in, task)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gets, s.auth = append(s.gets, r.URL.Path), append(s.auth, r.Header.Get("Authorization"))
	switch page := s.pages[r.URL.Path].(type) {
	case nil:
		http.NotFound(w, r)
	case int:
		w.WriteHeader(page)
	case string:
		fmt.Fprint(w, page)
	default:
		_ = json.NewEncoder(w).Encode(page)
	}
}

func (s *site) put(path string, page any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pages[path] = page
}

func (s *site) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.gets)
}

// messageAt returns a message to the agent at a path of the site.
func messageAt(s *site, path string) peer.Message {
	return peer.Message{Peer: contract.Peer{Name: "writer", URL: s.URL + path}, MessageID: "m1", Text: "hello"}
}

// cardWith returns a card with interfaces, given by URL, binding and version.
func cardWith(list ...string) map[string]any {
	var out []any
	for i := 0; i < len(list); i += 3 {
		out = append(out, map[string]any{"url": list[i], "protocolBinding": list[i+1], "protocolVersion": list[i+2]})
	}
	return map[string]any{"name": "a", "supportedInterfaces": out}
}

const (
	wellKnown = "/.well-known/agent-card.json"
	older     = "/.well-known/agent.json"
)

func TestTheCardSaysWhereAndHow(t *testing.T) {
	for name, tt := range map[string]struct {
		path  string
		pages map[string]any
		want  string
	}{
		"1.0 before 0.3":        {"/a2a", map[string]any{wellKnown: cardWith("/a2a", "JSONRPC", "0.3", "/a2a/v1", "JSONRPC", "1.0")}, "SendMessage /a2a/v1"},
		"1.0.2":                 {"", map[string]any{wellKnown: cardWith("/x", "JSONRPC", "1.0.2")}, "SendMessage /x"},
		"only 0.3":              {"", map[string]any{wellKnown: cardWith("/x", "GRPC", "1.0", "/y?k=v", "JSONRPC", "0.3")}, "message/send /y?k=v"},
		"no version":            {"", map[string]any{wellKnown: cardWith("/x", "JSONRPC", "")}, "SendMessage /x"},
		"at the older place":    {"/a2a", map[string]any{older: card03(false)}, "message/send /a2a"},
		"below the URL":         {"/agents/b/", map[string]any{wellKnown: cardWith("/agents/a", "JSONRPC", "1.0"), "/agents/b" + wellKnown: cardWith("/agents/b/rpc", "JSONRPC", "1.0")}, "SendMessage /agents/b/rpc"},
		"the URL itself":        {"/agent.json", map[string]any{"/agent.json": cardWith("/x", "JSONRPC", "1.0")}, "SendMessage /x"},
		"behind the URL":        {"/a2a", map[string]any{"/a2a": cardWith("/x", "JSONRPC", "1.0")}, "SendMessage /x"},
		"of another agent":      {"/agents/b", map[string]any{wellKnown: cardWith("/agents/a", "JSONRPC", "1.0")}, "message/send /agents/b"},
		"without a path":        {"/a2a", map[string]any{wellKnown: cardWith("http://0.0.0.0:8080", "JSONRPC", "1.0")}, "SendMessage /a2a"},
		"0.3 names JSON-RPC":    {"", map[string]any{wellKnown: map[string]any{"name": "a", "protocolVersion": "0.3.0", "url": "/g", "preferredTransport": "GRPC", "additionalInterfaces": []any{map[string]any{"url": "/j", "transport": "JSONRPC"}}}}, "message/send /j"},
		"0.2":                   {"", map[string]any{wellKnown: map[string]any{"name": "a", "protocolVersion": "0.2.6", "url": "/j"}}, "message/send /j"},
		"no version but a form": {"", map[string]any{wellKnown: map[string]any{"name": "a", "url": "/j", "capabilities": map[string]any{}}}, "message/send /j"},
		"strange elsewhere":     {"", map[string]any{wellKnown: `{"name":"a","url":"/j","protocolVersion":"0.3.0","securitySchemes":[1],"provider":"x"}`}, "message/send /j"},
		"a page of HTML":        {"/a2a", map[string]any{wellKnown: "<html>", older: "[]", "/a2a": `"x"`}, "message/send /a2a"},
		"not for us":            {"/a2a", map[string]any{wellKnown: 401, older: 403}, "message/send /a2a"},
		"huge":                  {"/a2a", map[string]any{wellKnown: `{"name":"` + strings.Repeat("x", 2<<20) + `","protocolVersion":"1.0"}`}, "message/send /a2a"},
		"the old dialect":       {"/a2a", map[string]any{older: cardOld}, "message/send /a2a"},
	} {
		t.Run(name, func(t *testing.T) {
			same(t, "text", send(t, peers(t, peer.Options{}), messageAt(newSite(t, tt.pages), tt.path)).Text, tt.want)
		})
	}
}

func TestACardThatNamesAnotherHostIsNotFollowed(t *testing.T) {
	other := newSite(t, nil)
	for name, url := range map[string]string{
		"another port": other.URL + "/x", "another host": "http://evil.example/x", "itself": "http://localhost:1/x", "nowhere": "http://0.0.0.0/x",
		"another scheme": "https://127.0.0.1/x", "with a password": "http://a:b@evil.example/x", "v6": "http://[::1]:1/x",
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			p := peers(t, peer.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
			s := newSite(t, map[string]any{wellKnown: cardWith(url, "JSONRPC", "1.0", url, "JSONRPC", "0.3")})
			same(t, "text", send(t, p, messageAt(s, "")).Text, "SendMessage /x")
			if strings.Count(log.String(), "\n") != 1 || strings.Contains(log.String(), "a:b") {
				t.Errorf("logged %s", log.String())
			}
		})
	}
}

func TestACardWithoutJSONRPCIsSaidSo(t *testing.T) {
	for name, card := range map[string]any{
		"gRPC": cardWith("http://x", "GRPC", "1.0"), "later": cardWith("/x", "JSONRPC", "2.0"),
	} {
		t.Run(name, func(t *testing.T) {
			m := messageAt(newSite(t, map[string]any{wellKnown: card}), "")
			f := wantFailure(t, peers(t, peer.Options{}), m, contract.KindPeerFailed)
			contains(t, f.Message, "no JSON-RPC interface")
		})
	}
}

func TestAnAgentThatIsIllHasNoProtocolToGuess(t *testing.T) {
	for _, code := range []int{502, 503, 504, 429} {
		m := messageAt(newSite(t, map[string]any{wellKnown: code}), "/a2a")
		wantFailure(t, peers(t, peer.Options{}), m, contract.KindPeerUnavailable)
	}
}

// clock is a clock that a test sets.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.now }

func (c *clock) add(d time.Duration) { c.mu.Lock(); defer c.mu.Unlock(); c.now = c.now.Add(d) }

func TestACardIsKeptAndRefreshed(t *testing.T) {
	s := newSite(t, map[string]any{wellKnown: cardWith("/one", "JSONRPC", "1.0")})
	c := &clock{now: time.Now()}
	p := peers(t, peer.Options{Now: c.Now})
	m := messageAt(s, "")
	for range 3 {
		same(t, "text", send(t, p, m).Text, "SendMessage /one")
	}
	same(t, "looks", s.count(), 1)
	s.put(wellKnown, cardWith("/two", "JSONRPC", "1.0"))
	c.add(11 * time.Minute)
	for send(t, p, m).Text != "SendMessage /two" { // the old card is used until the new one has arrived
	}
	same(t, "looks", s.count(), 2)
	s.put(wellKnown, nil)
	c.add(11 * time.Minute)
	for s.count() < 5 { // the card, its older path and the URL: none exists any more
		same(t, "text", send(t, p, m).Text, "SendMessage /two")
	}
	for range 3 {
		same(t, "text", send(t, p, m).Text, "SendMessage /two")
	}
	same(t, "looks", s.count(), 5)
}

func TestAMissingCardIsLookedForAgain(t *testing.T) {
	s := newSite(t, map[string]any{})
	c := &clock{now: time.Now()}
	p := peers(t, peer.Options{Now: c.Now})
	m := messageAt(s, "/a2a")
	same(t, "text", send(t, p, m).Text, "message/send /a2a")
	s.put(wellKnown, cardWith("/a2a", "JSONRPC", "1.0"))
	same(t, "at once", send(t, p, m).Text, "message/send /a2a")
	c.add(31 * time.Second)
	same(t, "later", send(t, p, m).Text, "SendMessage /a2a")
}

func TestACardThatNeedsALoginIsAskedForWithTheCallers(t *testing.T) {
	s := newSite(t, map[string]any{wellKnown: cardWith("/x", "JSONRPC", "1.0")})
	m := messageAt(s, "")
	m.Bearer = "t0ken"
	send(t, peers(t, peer.Options{}), m)
	same(t, "authorization", s.auth, []string{"Bearer t0ken"})
}

func TestManyAsk(t *testing.T) {
	s := newSite(t, map[string]any{wellKnown: cardWith("/x", "JSONRPC", "1.0")})
	p := peers(t, peer.Options{})
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if reply, err := p.Send(t.Context(), messageAt(s, "")); err != nil || reply.Text != "SendMessage /x" {
				t.Errorf("%+v, %v", reply, err)
			}
		})
	}
	wg.Wait()
	same(t, "looks", s.count(), 1)
}

func TestDescribeTellsTheSkills(t *testing.T) {
	skills := []any{map[string]any{"name": "write", "description": "Writes\n  texts."}, map[string]any{"name": "read"}, map[string]any{"description": "?"}}
	s := newSite(t, map[string]any{wellKnown: map[string]any{"name": "a", "protocolVersion": "0.3.0", "url": "/x", "skills": skills}})
	p := peers(t, peer.Options{})
	m := messageAt(s, "")
	m.Peer.Description = "Ask it to write."
	same(t, "before", p.Describe(m.Peer), "Ask it to write.")
	send(t, p, m) // waits for the fetch that Describe has started
	same(t, "after", p.Describe(m.Peer), "Ask it to write.\nSkills: write — Writes texts.; read")
	m.Peer.Description = ""
	same(t, "nothing else", p.Describe(m.Peer), "Skills: write — Writes texts.; read")
	same(t, "looks", s.count(), 1)
}

func TestSkillsAreLimited(t *testing.T) {
	var skills []any
	for i := range 40 {
		skills = append(skills, map[string]any{"name": fmt.Sprint("s", i), "description": strings.Repeat("é", 200)})
	}
	s := newSite(t, map[string]any{wellKnown: map[string]any{"name": "a", "protocolVersion": "0.3.0", "url": "/x", "skills": skills}})
	p := peers(t, peer.Options{})
	send(t, p, messageAt(s, ""))
	text := p.Describe(messageAt(s, "").Peer)
	if len(text) > 1500 || strings.Contains(text, "s10") || !strings.HasPrefix(text, "Skills: s0 — é") {
		t.Errorf("%d bytes: %s", len(text), text)
	}
}

func TestCloseEndsWhatRunsInTheBackground(t *testing.T) {
	asked := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
	}))
	defer s.Close()
	p := peer.New(peer.Options{})
	agent := contract.Peer{Name: "writer", URL: s.URL}
	p.Describe(agent)
	<-asked
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	p.Describe(agent)
	wantFailure(t, p, peer.Message{Peer: agent, Text: "hello"}, contract.KindPeerUnavailable)
}
