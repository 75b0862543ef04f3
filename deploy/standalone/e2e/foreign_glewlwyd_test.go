//go:build foreign

package e2e_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// atGlewlwyd is a person who has logged in there and lets the agent know who they are. Its pages are
// scripts, whose requests these are.
func atGlewlwyd(t *testing.T, issuer string) person {
	t.Helper()
	p := newPerson(t, "alice")
	api := strings.TrimSuffix(issuer, "/oidc")
	for _, step := range [][3]string{{"POST", "/auth/", `{"username":"alice","password":"alice-password"}`}, {"PUT", "/auth/grant/agent", `{"scope":"openid"}`}} {
		req, err := http.NewRequest(step[0], api+step[1], bytes.NewBufferString(step[2]))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := p.http.Do(req)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %v %v", step[1], resp, err)
		}
		resp.Body.Close()
	}
	return p
}

// goOn opens an address of the provider, and from its login page goes on with the present login.
func (p person) goOn(address string) (at *url.URL) {
	p.t.Helper()
	at, _ = p.visit(address)
	back := at.Query().Get("callback_url")
	if back == "" {
		p.t.Fatalf("the login is at %s", at)
	}
	at, _ = p.visit(back + "&g_continue")
	return at
}

// TestGlewlwyd has people log in at an OpenID provider of another vendor, whose tokens for the agent are ID
// tokens, and the agent get its own for a tool server there.
func TestGlewlwyd(t *testing.T) {
	t.Parallel()
	h, ledger := newHome(t), newVault(t, "ledger", "")
	issuer := startProvider(t, "glewlwyd.mjs", "--redirect", fmt.Sprintf("http://127.0.0.1:%d/auth/callback", h.ports.api), "--resource", ledger.url())
	ledger.trust(t, issuer)
	h.more = map[string]string{"SERVICE_SECRET": "service-secret"}
	h.extra = fmt.Sprintf("auth: [{type: oidc, issuer: %q, audience: agent, client_id: agent, device_client_id: agent}]\n", issuer)
	h.also = []string{fmt.Sprintf("{name: ledger, url: %q, credential: own, own: {issuer: %q, client_id: service, client_secret: \"${SERVICE_SECRET}\"}}", ledger.url(), issuer)}
	api, _ := h.inside()

	alice := atGlewlwyd(t, issuer)
	if at := alice.goOn(api.base + "/auth/login?return="); at.Host != strings.TrimPrefix(api.base, "http://") {
		t.Fatalf("the login ends at %s", at)
	}
	page, token := alice.at(api)
	var me struct{ Subject, Issuer string }
	if page.read("/me", &me); me.Subject == "" || me.Issuer != issuer {
		t.Fatalf("logged in as %+v", me)
	}
	if done := page.ask("call ledger_count", token); done.Result.Response != "The tool said: seven" {
		t.Errorf("the ledger: %+v", done.Result)
	}
	if got := ledger.last(t); got["client_id"] != "service" || got["scope"] != "read" {
		t.Errorf("the ledger saw %v", got)
	}
	page.want(200, "POST", "/auth/session/renewal", "", token)
	page.want(200, "GET", "/me", "")
	page.want(200, "POST", "/auth/logout", "", token)
	page.want(401, "GET", "/me", "")

	u := shellUser{t, t.TempDir(), []string{"AGENT_URL=" + api.base}}
	if shown := u.logIn(func(address string) { alice.goOn(address) }); !strings.Contains(shown, "Logged in as "+me.Subject) {
		t.Errorf("shown:\n%s", shown)
	}
	u.prints([]string{"ask", "hello"}, "You said: hello")
	u.run(0, "logout")
	u.run(4, "tools")
}
