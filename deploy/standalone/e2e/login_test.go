package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"agent-stop-and-go/activities/bearer/exchange/exchangetest"
	"agent-stop-and-go/workflows/contract"
)

// crm is a tool server that wants the token of a person who has logged in, and its authorization
// server, at which everybody agrees at once.
type crm struct {
	*httptest.Server
	mu     sync.Mutex
	issued int
	valid  string // the only token that is accepted
	calls  int
	form   url.Values // of the last request for a token
}

func newCRM(t *testing.T) *crm {
	c := &crm{}
	m := server.NewMCPServer("crm", "1")
	m.AddTool(mcp.NewTool("customer_delete", mcp.WithDestructiveHintAnnotation(true)), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.calls++
		return mcp.NewToolResultText("deleted"), nil
	})
	tools := server.NewStreamableHTTPServer(m)
	mux := http.NewServeMux()
	answer := func(w http.ResponseWriter, status int, v any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(v)
	}
	mux.HandleFunc("GET /.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, map[string]any{
			"issuer": c.URL, "authorization_endpoint": c.URL + "/authorize", "token_endpoint": c.URL + "/token", "registration_endpoint": c.URL + "/register",
			"code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"none"},
			"authorization_response_iss_parameter_supported": true,
		})
	})
	mux.HandleFunc("POST /register", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 201, map[string]any{"client_id": "agent", "token_endpoint_auth_method": "none"})
	})
	mux.HandleFunc("GET /authorize", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"state": {q.Get("state")}, "code": {"canary-code"}, "iss": {c.URL}}.Encode(), http.StatusFound)
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if err := r.ParseForm(); err != nil || r.PostForm.Get("code_verifier") == "" { // refresh tokens are revoked
			answer(w, 400, map[string]string{"error": "invalid_grant"})
			return
		}
		c.form = r.PostForm
		c.issued++
		c.valid = fmt.Sprint("canary-access-", c.issued)
		answer(w, 200, map[string]any{"access_token": c.valid, "refresh_token": fmt.Sprint("canary-refresh-", c.issued), "token_type": "bearer"})
	})
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		admitted := c.valid != "" && r.Header.Get("Authorization") == "Bearer "+c.valid
		c.mu.Unlock()
		if !admitted {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		tools.ServeHTTP(w, r)
	})
	c.Server = httptest.NewServer(mux)
	t.Cleanup(c.Close)
	return c
}

// revoke ends all tokens.
func (c *crm) revoke() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.valid = "none"
}

// logIn does what the browser of a person does.
func logIn(t *testing.T, address string) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Client{Jar: jar, Timeout: time.Minute}).Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != 200 || !strings.HasPrefix(resp.Request.URL.Fragment, "/c/") {
		t.Fatalf("the login ends with %s at %s", resp.Status, resp.Request.URL)
	}
}

// loginAddress returns the address in the approval that a turn waits for.
func loginAddress(t *testing.T, api *api, uuid string) string {
	t.Helper()
	var reply struct {
		Approval struct {
			Reason string
			Login  struct{ URL string }
		}
	}
	r := api.do("GET", "/approvals/"+uuid, "")
	if err := json.Unmarshal([]byte(r.Raw), &reply); err != nil || reply.Approval.Reason != "login" || reply.Approval.Login.URL == "" {
		t.Fatalf("no login waits: %s", r.Raw)
	}
	return reply.Approval.Login.URL
}

func TestACallThatNeedsALoginSurvivesKillMinusNine(t *testing.T) {
	t.Parallel()
	h, c := newHome(t), newCRM(t)
	h.also = []string{fmt.Sprintf("{name: crm, url: %q, credential: own, own: {grant: authorization_code}}", c.URL+"/mcp")}
	api, agent := h.outside()
	const text = `call log_in {"server":"crm"}`
	asked := api.ask(text)
	id := asked.Conversation.ID
	if !asked.Result.AuthRequired || !asked.Result.WaitingApproval {
		t.Fatalf("the call does not wait for a login: %+v", asked.Result)
	}
	uuid := asked.Result.Approval.UUID
	if again := api.say(id, text); !again.Result.AuthRequired || again.Result.Approval == nil || again.Result.Approval.UUID != uuid {
		t.Errorf("sent again: %+v", again.Result)
	}
	if yes := api.want(400, "POST", "/approvals/"+uuid, `{"approved":true}`); !strings.Contains(yes.Error, "needs a login") {
		t.Errorf("a yes: %+v", yes)
	}
	api.want(409, "POST", "/approvals/"+uuid+"/login", `{}`) // nobody has logged in
	agent.kill()
	api, agent = h.outside()
	logIn(t, loginAddress(t, api, uuid))
	settled := func() bool { return api.conversation(id).PendingApproval == nil }
	eventually(t, "the turn goes on", settled)

	deleted := api.say(id, "call customer_delete")
	if deleted.Result.Approval == nil {
		t.Fatalf("the call does not wait: %+v", deleted.Result)
	}
	c.revoke() // while the approval waits
	held := api.decide(deleted.Result.Approval.UUID, `{"approved":true}`)
	if !held.Result.AuthRequired {
		t.Fatalf("the approved call does not wait for a login: %+v", held.Result)
	}
	logIn(t, loginAddress(t, api, held.Result.Approval.UUID))
	eventually(t, "the turn ends", func() bool {
		all := api.conversation(id).Messages
		return len(all) > 0 && all[len(all)-1].Content == "The tool said: deleted"
	})
	c.mu.Lock()
	if c.calls != 1 || c.form.Get("resource") != c.URL+"/mcp" || c.form.Get("code_verifier") == "" {
		t.Errorf("%d calls; the token was asked for with %v", c.calls, c.form)
	}
	c.mu.Unlock()
	answers := api.do("GET", "/conversations/"+id+"?include=messages", "").Raw + api.do("GET", "/approvals/"+held.Result.Approval.UUID, "").Raw
	places := map[string][]byte{"answers": []byte(answers)}
	for name, data := range dump(t, h.dial()) {
		places["history of "+name] = data
	}
	if err := agent.terminate(); err != nil {
		t.Fatal(err)
	}
	places["log"] = []byte(agent.out.String())
	err := filepath.WalkDir(h.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		places[path], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for place, data := range places {
		if bytes.Contains(data, []byte("canary-")) {
			t.Errorf("%s has a secret of a login", place)
		}
	}
}

// stock is a tool server that wants tokens of a provider for "stock", and keeps their claims.
func stock(t *testing.T, p *exchangetest.Provider) (url string, seen func() []map[string]any) {
	m := server.NewMCPServer("stock", "1")
	m.AddTool(mcp.NewTool("count", mcp.WithReadOnlyHintAnnotation(true)), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("seven"), nil
	})
	m.AddTool(mcp.NewTool("sell", mcp.WithDestructiveHintAnnotation(true)), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("sold"), nil
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

// shopChain returns a shop with a stock and an assistant that asks the shop, each with a token for the next
// one that is exchanged for its caller's.
func shopChain(t *testing.T, p *exchangetest.Provider, stockURL string) (shop, assistant *home) {
	newAgent := func(name, extra string) *home {
		h := newHome(t)
		h.name, h.more = name, map[string]string{"CLIENT_SECRET": name + "-canary"}
		h.extra = fmt.Sprintf("auth: [{type: oidc, issuer: %q, audience: %s}]\n"+
			"token_exchange: {issuer: %q, client_id: %s, client_secret: \"${CLIENT_SECRET}\"}\n%s", p.URL, name, p.URL, name, extra)
		return h
	}
	shop = newAgent("shop", "")
	shop.also = []string{fmt.Sprintf("{name: stock, url: %q, credential: exchange, exchange: {audience: stock}}", stockURL)}
	assistant = newAgent("assistant", fmt.Sprintf("a2a: [{name: shop, url: 'http://127.0.0.1:%d/a2a', credential: exchange, exchange: {audience: shop}}]\n", shop.ports.api))
	return shop, assistant
}

// issuedFor returns the tokens for an agent that are valid now.
func issuedFor(p *exchangetest.Provider, audience string) []string {
	return slices.DeleteFunc(p.Issued(), func(token string) bool {
		claims, err := p.Claims(token)
		return err != nil || claims["aud"] != audience
	})
}

// The token with which the shop was asked has ended when its call is approved. The assistant has another
// one, and nobody has to log in.
func TestATokenThatHasEndedOnTheWayIsRenewed(t *testing.T) {
	t.Parallel()
	p := exchangetest.New(t)
	p.Clients["assistant"], p.Clients["shop"] = exchangetest.Client{Secret: "assistant-canary"}, exchangetest.Client{Secret: "shop-canary"}
	p.Audiences = []string{"shop", "stock"}
	p.Lifetime = 20 * time.Second // so that it outlasts the first question on a busy machine
	stockURL, seen := stock(t, p)
	shop, assistant := shopChain(t, p, stockURL)
	shop.inside()
	api, _ := assistant.inside()
	alice := "Authorization: Bearer " + p.Token("alice", "assistant", map[string]any{"exp": time.Now().Add(time.Hour).Unix()})

	asked := api.ask(`call a2a_shop {"message":"call sell"}`, alice)
	if asked.Result.Approval == nil {
		t.Fatalf("the call does not wait: %+v", asked.Result)
	}
	tokens := issuedFor(p, "shop")
	eventually(t, "the tokens for the shop end", func() bool {
		return !slices.ContainsFunc(tokens, func(token string) bool { _, err := p.Claims(token); return err == nil })
	})
	api.decide(asked.Result.Approval.UUID, `{"approved":true}`, alice)
	eventually(t, "the call is made", func() bool {
		all := api.want(200, "GET", "/conversations/"+asked.Conversation.ID+"?include=messages", "", alice).Conversation.Messages
		return strings.Contains(all[len(all)-1].Content, "The tool said: sold")
	})
	if calls := seen(); calls[len(calls)-1]["sub"] != "alice" {
		t.Errorf("the tool server saw %v", calls)
	}
}

// A person asks the assistant, the assistant asks the shop, and the shop calls a tool. The tool
// server sees the person and both agents. When the person's token has ended, the assistant waits
// for another one.
func TestEachHopShowsThePersonAndTheChainOfAgents(t *testing.T) {
	t.Parallel()
	p := exchangetest.New(t)
	p.Clients["assistant"], p.Clients["shop"] = exchangetest.Client{Secret: "assistant-canary"}, exchangetest.Client{Secret: "shop-canary"}
	p.Audiences = []string{"shop", "stock"}
	stockURL, seen := stock(t, p)
	shop, assistant := shopChain(t, p, stockURL)
	shop.outside()
	api, agent := assistant.outside()

	as := func(token string) string { return "Authorization: Bearer " + token }
	const text = `call a2a_shop {"message":"call count"}`
	fresh := as(p.Token("alice", "assistant", nil))
	if done := api.ask(text, fresh); done.Result.Response != "The tool said: The tool said: seven" {
		t.Fatalf("the answer is %+v", done.Result)
	}
	want := map[string]any{"sub": "shop", "act": map[string]any{"sub": "assistant"}}
	calls := seen()
	for _, claims := range calls {
		if claims["sub"] != "alice" || !cmp.Equal(claims["act"], any(want)) {
			t.Errorf("the tool server saw %v", claims)
		}
	}
	p.Answer = func(w http.ResponseWriter, form url.Values) bool { // the provider has ended her session
		if strings.HasSuffix(form.Get("grant_type"), "token-exchange") && form.Get("audience") == "shop" {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"error":"invalid_grant"}`)
			return true
		}
		return false
	}
	ended := as(p.Token("alice", "assistant", map[string]any{"note": "ended"}))
	asked := api.ask(text, ended)
	if !asked.Result.AuthRequired || asked.Result.Approval == nil {
		t.Fatalf("the call does not wait for a login: %+v", asked.Result)
	}
	id := asked.Conversation.ID
	agent.kill()
	p.Answer = nil
	api, _ = assistant.outside()
	bob := as(p.Token("bob", "assistant", nil))
	api.want(404, "POST", "/approvals/"+asked.Result.Approval.UUID+"/login", `{}`, bob)
	done := api.say(id, text, fresh)
	if done.Result.Response != "The tool said: The tool said: seven" {
		t.Errorf("after a new token: %+v", done.Result)
	}
	if n := len(seen()); n <= len(calls) {
		t.Errorf("the tool server was called %d times", n)
	}
	sent := 0
	for _, m := range done.Conversation.Messages {
		if m.Role == "user" && m.Content == text {
			sent++
		}
	}
	if sent != 1 {
		t.Errorf("the message is recorded %d times: it has begun another turn", sent)
	}
}

func TestRecordALogin(t *testing.T) {
	t.Parallel()
	h, c := newHome(t), newCRM(t)
	h.also = []string{fmt.Sprintf("{name: crm, url: %q, credential: own, own: {grant: authorization_code}}", c.URL+"/mcp")}
	api, p := h.inside()
	const text = `call log_in {"server":"crm"}`
	asked := api.ask(text)
	id, uuid := asked.Conversation.ID, asked.Result.Approval.UUID
	workflow := contract.ConversationWorkflowID(id)
	again := contract.MessageSignal{RequestID: "again", Text: contract.Inline(text)}
	if err := p.Client.SignalWorkflow(context.Background(), workflow, "", contract.SignalMessage, again); err != nil { // past the gateway
		t.Fatal(err)
	}
	logIn(t, loginAddress(t, api, uuid))
	eventually(t, "the turn goes on", func() bool { return api.conversation(id).PendingApproval == nil })
	api.want(200, "POST", "/conversations/"+id+"/close", "")
	keep(t, p.Client, "login", workflow)
	keep(t, p.Client, "login-approval", contract.ApprovalWorkflowID(uuid))
}
