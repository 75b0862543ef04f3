package worker_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"agent-stop-and-go/activities/oauth"
	"agent-stop-and-go/config"
	"agent-stop-and-go/worker"
)

// protected is a tool server that wants tokens, and its authorization server, which gives them
// for one secret.
func protected(t *testing.T, secret string) string {
	m := server.NewMCPServer("crm", "1")
	m.AddTool(mcp.NewTool("find"), nil)
	tools := server.NewStreamableHTTPServer(m)
	var url string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := func(status int, v any) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_ = json.NewEncoder(w).Encode(v)
		}
		switch r.URL.Path {
		case "/.well-known/oauth-authorization-server":
			answer(http.StatusOK, map[string]string{"issuer": url, "token_endpoint": url + "/token"})
		case "/token":
			if _, got, _ := r.BasicAuth(); got != secret {
				answer(http.StatusUnauthorized, map[string]string{"error": "invalid_client"})
				return
			}
			answer(http.StatusOK, map[string]string{"access_token": "own-canary", "token_type": "bearer"})
		case "/mcp":
			if r.Header.Get("Authorization") != "Bearer own-canary" {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			tools.ServeHTTP(w, r)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	url = s.URL
	return url
}

func TestAServerIsCalledWithTheAgentsOwnToken(t *testing.T) {
	url := protected(t, "crm-canary")
	c, err := config.Parse("agent.yaml", fmt.Appendf(nil,
		`mcp_servers: [{name: crm, url: "%s/mcp", credential: own, own: {issuer: "%s", client_id: shop, client_secret: "${CRM_SECRET}"}}]`, url, url))
	if err != nil {
		t.Fatal(err)
	}
	options, err := oauth.InMemory("agent")
	if err != nil {
		t.Fatal(err)
	}
	for secret, want := range map[string]string{
		"crm-canary": "",
		"wrong":      `invalid_client`,
		"":           "CRM_SECRET",
	} {
		a, release, err := worker.Assemble(t.Context(), c, worker.Parts{
			Records: options.Store, Keyring: options.Keyring, Getenv: func(string) string { return secret },
		})
		if err != nil {
			t.Fatal(err)
		}
		tools := a.Tools.Caller.Tools(t.Context())
		if state := a.Tools.Caller.States()[0]; state.Ready != (want == "") || !strings.Contains(state.Error, want) || want == "" && len(tools) != 1 {
			t.Errorf("with the secret %q: %+v", secret, state)
		}
		if err := release(); err != nil {
			t.Error(err)
		}
		if secret == "crm-canary" {
			options.Store = &oauth.Memory{}
		}
	}
	problems, err := worker.Connect(t.Context(), c, func(string) string { return "crm-canary" })
	if err != nil || len(problems) != 0 {
		t.Errorf("got %v, %v", problems, err)
	}
}
