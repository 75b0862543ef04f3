package embedded_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"agent-stop-and-go/deploy/standalone/embedded"
)

func TestWebUIServesThePageAndItsAPI(t *testing.T) {
	var log bytes.Buffer
	srv := start(t, embedded.Options{
		DataDir: t.TempDir(), Namespace: "agents", UIPort: -1, Logger: slog.New(slog.NewTextHandler(&log, nil)), Codec: "http://127.0.0.1:8080/codec",
	})
	if err := run(t.Context(), dialNamespace(t, srv, "agents"), "shown"); err != nil {
		t.Fatal(err)
	}

	if page := get(t, srv.UIAddress()+"/", http.StatusOK); !strings.Contains(page, "<html") {
		t.Errorf("no page at /: %.200s", page)
	}
	if page := get(t, srv.UIAddress()+"/namespaces/agents/workflows", http.StatusOK); !strings.Contains(page, "<html") {
		t.Errorf("no page for the list of workflows: %.200s", page)
	}
	if list := get(t, srv.UIAddress()+"/api/v1/namespaces", http.StatusOK); !strings.Contains(list, `"agents"`) {
		t.Errorf("namespace missing: %s", list)
	}
	eventually(t, "the workflow in the list of the UI", func() (bool, error) {
		return strings.Contains(get(t, srv.UIAddress()+"/api/v1/namespaces/agents/workflows?query=", http.StatusOK), "shown"), nil
	})

	var settings struct {
		DefaultNamespace                     string
		DisableNewsFetch, NotifyOnNewVersion bool
		Codec                                struct {
			Endpoint           string
			IncludeCredentials bool
		}
	}
	if err := json.Unmarshal([]byte(get(t, srv.UIAddress()+"/api/v1/settings", http.StatusOK)), &settings); err != nil {
		t.Fatal(err)
	}
	if settings.DefaultNamespace != "agents" || !settings.DisableNewsFetch || settings.NotifyOnNewVersion ||
		settings.Codec.Endpoint != "http://127.0.0.1:8080/codec" || !settings.Codec.IncludeCredentials {
		t.Errorf("settings: %+v", settings)
	}
	stop(t, srv)
	if log.Len() > 0 {
		t.Errorf("an uneventful run logs nothing, got:\n%s", &log)
	}
}

// An operator answers an approval this way. Another page in the same browser must not be able to.
func TestWebUISignalsAWorkflow(t *testing.T) {
	srv := start(t, embedded.Options{DataDir: t.TempDir(), UIPort: -1})
	if err := run(t.Context(), dial(t, srv), "approval-1"); err != nil {
		t.Fatal(err)
	}
	signal := func(headers ...string) *http.Request {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
			srv.UIAddress()+"/api/v1/namespaces/default/workflows/approval-1/signal/decide", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		for _, h := range headers {
			name, value, _ := strings.Cut(h, ": ")
			req.Header.Set(name, value)
		}
		return req
	}
	do(t, signal("Sec-Fetch-Site: cross-site"), http.StatusForbidden)
	do(t, signal("Origin: http://evil.example", "Content-Type: text/plain"), http.StatusForbidden)
	// Without the guard these two would pass: they look like requests of a program with a login.
	do(t, signal("Origin: http://evil.example", "Authorization: Bearer x"), http.StatusForbidden)
	do(t, signal("Sec-Fetch-Site: cross-site", "Authorization: Bearer x"), http.StatusForbidden)
	do(t, signal("Sec-Fetch-Site: same-origin", "Origin: "+srv.UIAddress()), http.StatusOK)
}

func TestWebUIIsOpenedUnderNamesOfOurs(t *testing.T) {
	srv := start(t, embedded.Options{DataDir: t.TempDir(), UIPort: -1, AllowedHosts: []string{"agents.example.com"}})
	for host, want := range map[string]int{
		"localhost:8233": 200, "127.0.0.1": 200, "agents.example.com": 200, "rebound.example:8233": 421, "203.0.113.5:8233": 421,
	} {
		for _, path := range []string{"/", "/api/v1/namespaces"} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.UIAddress()+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Host = host
			do(t, req, want)
		}
	}
}

func get(t *testing.T, url string, want int) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return do(t, req, want)
}

func do(t *testing.T, req *http.Request, want int) string {
	t.Helper()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != want {
		t.Fatalf("%s as %s: got %s, want %d: %.300s", req.URL, req.Host, resp.Status, want, body)
	}
	return string(body)
}
