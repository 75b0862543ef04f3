package worker_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"agent-stop-and-go/activities/bearer"
	"agent-stop-and-go/activities/bearer/exchange"
	"agent-stop-and-go/activities/bearer/exchange/exchangetest"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/config"
	"agent-stop-and-go/config/blobstore"
	"agent-stop-and-go/worker"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/credential"
)

// guardedTools is a tool server that wants tokens of a provider for "stock", and repeats them.
func guardedTools(t *testing.T, p *exchangetest.Provider) (url string, seen func() []map[string]any) {
	m := server.NewMCPServer("stock", "1")
	m.AddTool(mcp.NewTool("count", mcp.WithReadOnlyHintAnnotation(true)), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("7, said to " + r.Header.Get("Authorization")), nil
	})
	tools := server.NewStreamableHTTPServer(m)
	var mu sync.Mutex
	var all []map[string]any
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		claims, err := p.Claims(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		if err != nil || claims["aud"] != "stock" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		mu.Lock()
		all = append(all, claims)
		mu.Unlock()
		tools.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, func() []map[string]any {
		mu.Lock()
		defer mu.Unlock()
		return all
	}
}

// A person asks the assistant, the assistant asks the shop, the shop calls a tool: the tool server
// sees all of them, and nobody else sees a token.
func TestAToolServerSeesThePersonAndTheChainOfAgents(t *testing.T) {
	p := exchangetest.New(t)
	p.Clients["assistant"], p.Clients["shop"] = exchangetest.Client{Secret: "assistant-canary"}, exchangetest.Client{Secret: "shop-canary"}
	p.Audiences = []string{"shop", "stock"}
	url, seen := guardedTools(t, p)
	assistant := exchange.NewProvider(exchange.Settings{Issuer: p.URL, ClientID: "assistant", Secret: "assistant-canary"}).Source(exchange.Target{Audience: "shop"})
	sent, err := assistant.Token(t.Context(), bearer.Request{Caller: credential.Token{Bearer: p.Token("alice", "assistant", nil)}})
	if err != nil {
		t.Fatal(err)
	}

	c, err := config.Parse("agent.yaml", fmt.Appendf(nil, `
token_exchange: {issuer: %q, client_id: shop, client_secret: "${SHOP_SECRET}"}
mcp_servers: [{name: stock, url: %q, credential: exchange, exchange: {audience: stock}}]`, p.URL, url))
	if err != nil {
		t.Fatal(err)
	}
	ring, err := credential.NewKeyring(credential.Key{ID: "k1", Secret: []byte(strings.Repeat("k", credential.KeySize))})
	if err != nil {
		t.Fatal(err)
	}
	store, err := blobstore.Open(t.Context(), "mem://")
	if err != nil {
		t.Fatal(err)
	}
	a, release, err := worker.Assemble(t.Context(), c, worker.Parts{
		Blobs: store, Keyring: ring, Getenv: func(name string) string { return map[string]string{"SHOP_SECRET": "shop-canary"}[name] },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	sealed, err := ring.Seal("c-1", credential.NewToken(sent.Bearer))
	if err != nil {
		t.Fatal(err)
	}
	sum, err := toolbox.Digest([]byte(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	got, err := a.Tools.CallTool(credential.NewContext(t.Context(), sealed), contract.CallToolInput{
		ConversationID: "c-1", Server: "stock", Tool: "count", Arguments: contract.JSON{Raw: json.RawMessage(`{}`)}, SHA256: sum, IdempotencyKey: "m-1",
	})
	if err != nil || got.IsError || !strings.HasPrefix(got.Text.Inline, "7, said to ") {
		t.Fatalf("got %+v, %v", got, err)
	}
	for _, secret := range append(p.Issued(), "shop-canary") {
		if strings.Contains(got.Text.Inline, secret) {
			t.Errorf("the result has a token: %s", got.Text.Inline)
		}
	}
	calls := seen()
	if len(calls) == 0 {
		t.Fatal("the server was not called")
	}
	want := map[string]any{"sub": "shop", "act": map[string]any{"sub": "assistant"}}
	for _, claims := range calls {
		if claims["sub"] != "alice" || !cmp.Equal(claims["act"], any(want)) {
			t.Errorf("the server saw %v", claims)
		}
	}
}
