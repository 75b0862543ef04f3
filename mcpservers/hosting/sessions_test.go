package hosting_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/mcpservers/hosting"
)

func TestOnlyIssuedIDsAreAccepted(t *testing.T) {
	s := serve(t, hosting.Options{})
	const foreign = "Mcp-Session-Id: mcp-session-6d1f8b1e-4f3e-4c6b-9d0f-2b8a8f6c1d11"
	for _, test := range []struct {
		what, method, header string
		status               int
	}{
		{"POST without an id", "POST", "", 400},
		{"POST with a made-up id", "POST", "Mcp-Session-Id: abc", 400},
		{"POST with a foreign id", "POST", foreign, 404},
		{"GET without an id", "GET", "", 400},
		{"GET with a made-up id", "GET", "Mcp-Session-Id: abc", 400},
		{"GET with a foreign id", "GET", foreign, 404},
		{"DELETE with a foreign id", "DELETE", foreign, 404},
	} {
		body := ""
		if test.method == "POST" {
			body = listTools
		}
		if response, text := ask(t, test.method, s.url+"/mcp", body, test.header); response.StatusCode != test.status {
			t.Errorf("%s: %d %s", test.what, response.StatusCode, text)
		}
	}
	if response, _ := ask(t, "POST", s.url+"/mcp", listTools, foreign); response.StatusCode != 404 {
		t.Error("an id was taken after it had been sent often enough")
	}
	if response, body := ask(t, "POST", s.url+"/message?sessionId=abc", listTools); response.StatusCode != 400 {
		t.Errorf("SSE: %d %s", response.StatusCode, body)
	}
}

func TestEachSessionHasItsOwnState(t *testing.T) {
	s := serve(t, hosting.Options{})
	a, b, c := dial(t, s.url), dial(t, s.url), dialSSE(t, s.url)
	for _, want := range []string{"1", "2"} {
		if x, y, z := use(t, a, "count"), use(t, b, "count"), use(t, c, "count"); x != want || y != want || z != want {
			t.Errorf("got %s, %s, %s, want %s", x, y, z, want)
		}
	}
	if got := use(t, dialModern(t, s.url), "count"); got != "no session" {
		t.Errorf("a stateless request had one: %s", got)
	}
}

func TestDELETEEndsASessionAndItsStream(t *testing.T) {
	s := serve(t, hosting.Options{})
	id := newSession(t, s.url)
	stream, _ := ask(t, "GET", s.url+"/mcp", "", id)
	if response, body := ask(t, "DELETE", s.url+"/mcp", "", id); response.StatusCode != 200 {
		t.Fatalf("%d %s", response.StatusCode, body)
	}
	if _, err := io.ReadAll(stream.Body); err != nil {
		t.Errorf("stream was cut: %v", err)
	}
	if response, _ := ask(t, "POST", s.url+"/mcp", listTools, id); response.StatusCode != 404 {
		t.Errorf("after DELETE: %d", response.StatusCode)
	}
}

func TestASilentSessionExpiresUnlessAStreamIsOpen(t *testing.T) {
	eachKindOfStore(t, func(t *testing.T, newStore func() hosting.SessionStore) {
		retryLimits(t, 100*time.Millisecond, func(limit time.Duration) error {
			s := serve(t, hosting.Options{Settings: hosting.Settings{SessionIdle: hosting.Span(limit)}, Sessions: newStore()})
			listening := newSession(t, s.url)
			ask(t, "GET", s.url+"/mcp", "", listening) // before it expires
			silent := newSession(t, s.url)
			if line := s.log.waitFor(t, "session expired"); !strings.Contains(line, strings.TrimPrefix(silent, "Mcp-Session-Id: ")) {
				return fmt.Errorf("expired: %s", line)
			}
			if response, _ := ask(t, "POST", s.url+"/mcp", listTools, silent); response.StatusCode != 404 {
				return fmt.Errorf("silent: %d", response.StatusCode)
			}
			if response, body := ask(t, "POST", s.url+"/mcp", listTools, listening); response.StatusCode != 200 {
				return fmt.Errorf("listening: %d %s", response.StatusCode, body)
			}
			return nil
		})
	})
}

func TestARefusedInitializeLeavesNoSession(t *testing.T) {
	store := &countingStore{SessionStore: hosting.NewMemoryStore()}
	s := serve(t, hosting.Options{Sessions: store})
	for _, body := range []string{`{`, `[]`, ``} {
		ask(t, "POST", s.url+"/mcp", body)
	}
	ask(t, "POST", s.url+"/mcp", initialize, "Content-Type: text/plain")
	if store.n != 0 {
		t.Errorf("%d sessions", store.n)
	}
}

type countingStore struct {
	hosting.SessionStore
	n   int
	err error
}

func (c *countingStore) Create(ctx context.Context, id string, now time.Time) error {
	c.n++
	return errors.Join(c.err, c.SessionStore.Create(ctx, id, now))
}

func (c *countingStore) Delete(ctx context.Context, id string) error {
	c.n--
	return c.SessionStore.Delete(ctx, id)
}

func TestABrokenStoreIsNotTheClientsFault(t *testing.T) {
	s := serve(t, hosting.Options{Sessions: &countingStore{SessionStore: hosting.NewMemoryStore(), err: errors.New("disk full")}})
	for _, path := range []string{"/mcp", "/sse"} {
		method, body := "POST", initialize
		if path == "/sse" {
			method, body = "GET", ""
		}
		if response, text := ask(t, method, s.url+path, body); response.StatusCode != 503 || strings.Contains(text, "disk") {
			t.Errorf("%s: %d %s", path, response.StatusCode, text)
		}
	}
}

func TestSessionAndSubscriptionOutliveARestart(t *testing.T) {
	path := newPath(t)
	var current http.Handler
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { current.ServeHTTP(w, r) }))
	t.Cleanup(front.Close)
	start := func() testServer {
		s := serve(t, hosting.Options{Sessions: sessionFile(t, path)})
		current = s.http
		return s
	}
	first := start()
	c := dial(t, front.URL)
	subscribe(t, c, "thing://1")
	use(t, c, "count")
	if err := first.http.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	second := start()
	if got := use(t, c, "count"); got != "2" {
		t.Errorf("state after the restart: %s", got)
	}
	stream, _ := ask(t, "GET", front.URL+"/mcp", "", "Mcp-Session-Id: "+c.GetSessionId())
	second.subscriptions.Updated("thing://2", "thing://1")
	readUntil(t, stream, `"uri":"thing://1"`)
}
