package openapi_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"agent-stop-and-go/mcpservers/openapi"

	"github.com/mark3labs/mcp-go/server"
)

// The API answers with the status that is the number of the order.
func TestAChangeThatLeadsElsewhereIsNotRepeated(t *testing.T) {
	s := serving(t, func(w http.ResponseWriter, r *http.Request) {
		var status int
		_, _ = fmt.Sscanf(r.URL.Path, "/v1/orders/%d", &status)
		w.Header().Set("Location", "/v1/orders/12")
		w.WriteHeader(status)
	}, "[]", nil)
	text, failed, unknown := call(t, s, "delete_order", "", `{"id":303}`)
	if failed || unknown != nil || text != "303 See Other\nLocation: /v1/orders/12\n(the call was made; Location is where its result is)" {
		t.Errorf("%q %t %v", text, failed, unknown)
	}
	for _, status := range []string{"301", "302"} {
		if _, _, unknown := call(t, s, "delete_order", "", `{"id":`+status+`}`); unknown == nil || !strings.Contains(unknown.Error(), "it is not known whether the call was made: "+status) {
			t.Errorf("%s: %v", status, unknown)
		}
	}
	if text, failed, unknown := call(t, s, "delete_order", "", `{"id":308}`); !failed || unknown != nil || !strings.HasPrefix(text, "308") {
		t.Errorf("%q %v", text, unknown)
	}
}

// serving returns the tools of the shop with another API.
func serving(t *testing.T, api http.HandlerFunc, security string, credentials map[string]string) *server.MCPServer {
	t.Helper()
	at := httptest.NewServer(api)
	t.Cleanup(at.Close)
	s, err := newServer(t, at.URL, security, func(c *openapi.Config) { c.Credentials = credentials })
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestACredentialOfNoSchemeIsRefusedWithTheSchemes(t *testing.T) {
	_, err := newServer(t, "http://127.0.0.1:1", "[]", func(c *openapi.Config) { c.Credentials = map[string]string{"cooky": "KEY"} })
	if err == nil || !strings.Contains(err.Error(), `no security scheme "cooky"; it has: `) || !strings.Contains(err.Error(), "cookie, ") {
		t.Error(err)
	}
}

func TestATokenThatIsRefusedIsReplaced(t *testing.T) {
	var tokens, calls atomic.Int32
	s := serving(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/token" {
			fmt.Fprintf(w, `{"access_token":"token/%d","token_type":"Bearer"}`, tokens.Add(1)) // of no given end
			return
		}
		calls.Add(1)
		if r.Header.Get("Authorization") == "Bearer token/1" || r.Method == http.MethodDelete && calls.Load() > 2 {
			w.WriteHeader(http.StatusUnauthorized)
		}
		fmt.Fprintf(w, `{"echo":%q,"php":"%s"}`, r.Header.Get("Authorization"), strings.ReplaceAll(r.Header.Get("Authorization"), "/", `\/`))
	}, "[{oauth: [read]}]", map[string]string{"oauth": "PAIR"})
	text, failed, _ := call(t, s, "get_order", "", `{"id":1}`)
	if failed || strings.Contains(text, "token") || tokens.Load() != 2 || calls.Load() != 2 {
		t.Errorf("%q, %d tokens, %d calls", text, tokens.Load(), calls.Load())
	}
	if text, failed, _ := call(t, s, "delete_order", "", `{"id":1}`); !failed || !strings.HasPrefix(text, "401") || calls.Load() != 3 {
		t.Errorf("a change: %q, %d calls", text, calls.Load())
	}
	if call(t, s, "get_order", "", `{"id":1}`); tokens.Load() != 3 {
		t.Errorf("%d tokens", tokens.Load())
	}
}

func TestErrorsOfTokensAreShort(t *testing.T) {
	s := serving(t, func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, strings.Repeat("x", 250)+key+strings.Repeat("y", 100_000), http.StatusBadRequest)
	}, "[{oauth: [read]}]", map[string]string{"oauth": "PAIR"})
	if text, failed, _ := call(t, s, "get_order", "", `{"id":1}`); !failed || len(text) > 400 || strings.Contains(text, key[:6]) {
		t.Errorf("%d bytes: %.500s", len(text), text)
	}
}

func TestCredentialsAreMaskedBeforeATextIsCut(t *testing.T) {
	for _, before := range []int{1015, 1020} { // of 1024
		s := serving(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", strings.Repeat("x", 990)+key)
			fmt.Fprint(w, strings.Repeat("x", before)+key+strings.Repeat("y", 100_000))
		}, "[{bearer: []}]", map[string]string{"bearer": "KEY"})
		if text, failed, _ := call(t, s, "get_order", "", `{"id":1}`); failed || strings.Contains(text, key[:3]) {
			t.Errorf("%s", text)
		}
	}
}

func TestOperationsWithoutASummary(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.yaml")
	if err := os.WriteFile(path, []byte("openapi: 3.1.0\ninfo: {title: T, version: '1'}\nservers: [{url: 'http://127.0.0.1:1'}]\npaths: {/a: {get: {responses: {}}}, /boxes: {get: {operationId: boxes, responses: {}}}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, most := range []int{40, 0} {
		c := openapi.DefaultConfig()
		c.API, c.MaxTools = path, most
		o, err := openapi.New(t.Context(), c, os.Getenv, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		s := server.NewMCPServer(openapi.Name, openapi.Version)
		if err := o.Register(s); err != nil {
			t.Fatal(err)
		}
		if most > 0 {
			if tool := s.GetTool("GET_a").Tool; tool.Description != "GET /a" || tool.Annotations.Title != "GET_a" {
				t.Errorf("%q %q", tool.Description, tool.Annotations.Title)
			}
			continue
		}
		for query, want := range map[string]string{"s": "boxes (reads; GET /boxes)", "boxes": "boxes (reads; GET /boxes)", "zs": "(no operation has these words)"} {
			if text, _, _ := call(t, s, "search_operations", "", `{"query":"`+query+`"}`); text != want {
				t.Errorf("%s: %q", query, text)
			}
		}
	}
}
