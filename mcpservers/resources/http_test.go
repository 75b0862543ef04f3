package resources_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"agent-stop-and-go/mcpservers/hosting"
	"agent-stop-and-go/mcpservers/resources"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
)

// newHTTP serves the database at path, with the sessions in the same file.
func newHTTP(t *testing.T, path string, log *slog.Logger) *hosting.HTTP {
	t.Helper()
	sessions, err := hosting.OpenSessions(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	h := hosting.NewHTTP(hosting.Options{Sessions: sessions, Log: log}, resources.NewServer(openAt(t, path), log))
	t.Cleanup(func() {
		h.Shutdown(context.Background())
		sessions.Close()
	})
	return h
}

func newSite(t *testing.T, log *slog.Logger) string {
	t.Helper()
	_, path := openStore(t)
	site := httptest.NewServer(newHTTP(t, path, log))
	t.Cleanup(site.Close)
	return site.URL
}

func dial(t *testing.T, url string, options ...transport.StreamableHTTPCOption) *client.Client {
	t.Helper()
	c, err := client.NewStreamableHttpClient(url+"/mcp", options...)
	if err != nil {
		t.Fatal(err)
	}
	handshake(t, c)
	return c
}

func TestToolsWorkOverHTTP(t *testing.T) {
	url := newSite(t, quiet())
	var group sync.WaitGroup
	for i := range 4 {
		c := dial(t, url)
		for range 10 {
			group.Go(func() { add(t, c, fmt.Sprint("r", i), 1) })
		}
	}
	group.Wait()
	if got := list(t, dial(t, url)).Count; got != 40 {
		t.Errorf("%d resources", got)
	}
}

func TestHealthSaysOK(t *testing.T) {
	response, err := http.Get(newSite(t, quiet()) + "/health")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, _ := io.ReadAll(response.Body); string(body) != "ok\n" || response.StatusCode != 200 {
		t.Errorf("%d %q", response.StatusCode, body)
	}
}

func TestBadHTTPRequestsAreAnsweredAndTheServerContinues(t *testing.T) {
	const listTools = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	tests := map[string]struct {
		method, session, body string
		status                int
		want                  string
	}{
		"no session":          {"POST", "", listTools, 400, "Invalid session ID"},
		"made-up session":     {"POST", "abc", listTools, 400, "Invalid session ID"},
		"session with escape": {"POST", "../../x", listTools, 400, "Invalid session ID"},
		"foreign session":     {"POST", "mcp-session-6d1f8b1e-4f3e-4c6b-9d0f-2b8a8f6c1d11", listTools, 404, "Session not found"},
		"not JSON":            {"POST", "", `{"jsonrpc":`, 400, "-32700"},
		"empty body":          {"POST", "", ``, 400, "-32700"},
		"body over 1 MiB":     {"POST", "", `"` + strings.Repeat("x", 1<<20) + `"`, 413, "over 1 MiB"},
		"other method":        {"PUT", "", "", 404, "not found"},
	}
	url := newSite(t, quiet())
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			status, body := send(t, test.method, url+"/mcp", test.session, test.body)
			if status != test.status || !strings.Contains(body, test.want) {
				t.Errorf("got %d %q", status, body)
			}
		})
	}
	add(t, dial(t, url), "still here", 1)
}

func send(t *testing.T, method, url, session, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	return response.StatusCode, string(text)
}

func TestAClientContinuesAfterARestart(t *testing.T) {
	_, path := openStore(t)
	var current http.Handler
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { current.ServeHTTP(w, r) }))
	t.Cleanup(site.Close)
	first := newHTTP(t, path, quiet())
	current = first
	c := dial(t, site.URL)
	add(t, c, "before", 1)
	if err := first.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	current = newHTTP(t, path, quiet())
	add(t, c, "after", 2)
	if got := list(t, c).Count; got != 2 {
		t.Errorf("%d resources", got)
	}
}

func TestTheLogNamesSessionsAndNoForgedOnes(t *testing.T) {
	var log lockedBuffer
	url := newSite(t, slog.New(slog.NewTextHandler(&log, nil)))
	c := dial(t, url, transport.WithHTTPHeaders(map[string]string{"X-Session-ID": "s-1"}))
	add(t, c, "secret-name", 1)
	send(t, "POST", url+"/mcp", "a b", "{}")
	text := log.String()
	for _, want := range []string{"tool=resources_add outcome=ok", "sid=s-1", "mcp_session=mcp-session-", "status=400", "mcp_session=-"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if strings.Contains(text, "secret-name") || strings.Contains(text, "a b") {
		t.Errorf("log tells too much: %s", text)
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
