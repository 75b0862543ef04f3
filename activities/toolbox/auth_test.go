package toolbox_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
)

// wantToken answers 401 to matching requests without the token.
func wantToken(token string, match func(body string) bool) func(http.ResponseWriter, *http.Request, string) bool {
	return func(w http.ResponseWriter, r *http.Request, body string) bool {
		if !match(body) || r.Header.Get("Authorization") == "Bearer "+token {
			return false
		}
		w.Header().Set("WWW-Authenticate", "Bearer")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(r.Header.Get("Authorization") + " is not welcome"))
		return true
	}
}

func everything(string) bool { return true }

// asksForLogin reports whether a call was refused for want of a token.
func asksForLogin(r toolbox.Result) bool {
	r.Challenges = nil
	return same(r, toolbox.Result{IsError: true, AuthRequired: "web", Text: "Authentication required to access the web server."})
}

func TestServerThatWantsAToken(t *testing.T) {
	log := &logBuffer{}
	place := newSite(t)
	place.onRequest(wantToken("canary", everything))
	place.start(newMCP(nil))
	box := open(t, toolbox.Options{Servers: []toolbox.Server{place.server("web")}, Logger: log.logger()})
	box.Tools(t.Context())
	if state := box.States()[0]; state.Ready || state.Error != "authentication is required" {
		t.Errorf("got %+v", state)
	}
	for _, bearer := range []string{"", "wrong-canary"} {
		if got := mustCall(t, box, toolbox.Call{Server: "web", Tool: "touch", Bearer: bearer}); !asksForLogin(got) || len(got.Challenges) != 1 {
			t.Errorf("got %+v", got)
		}
	}
	if got := box.Challenges("web"); len(got) != 1 || got[0] != "Bearer" {
		t.Errorf("challenges %q", got)
	}
	if got := mustCall(t, box, toolbox.Call{Server: "web", Tool: "touch", Bearer: "canary"}); got.Text != "touched" {
		t.Errorf("got %+v", got)
	}
	if got := mustCall(t, box, toolbox.Call{Server: "web", Tool: "touch"}); !asksForLogin(got) {
		t.Errorf("a session was shared: %+v", got)
	}
	if strings.Contains(log.String(), "canary") {
		t.Errorf("a token was logged:\n%s", log)
	}
}

func TestToolThatWantsAToken(t *testing.T) {
	place := serve(t, newMCP(nil))
	place.onRequest(wantToken("canary", func(body string) bool { return strings.Contains(body, toolsCall) }))
	box := openServers(t, place.server("web"))
	if got := mustCall(t, box, toolbox.Call{Server: "web", Tool: "touch", Destructive: true}); !asksForLogin(got) || len(got.Challenges) != 1 {
		t.Errorf("got %+v", got)
	}
	if got := mustCall(t, box, toolbox.Call{Server: "web", Tool: "touch", Bearer: "canary", Destructive: true}); got.Text != "touched" {
		t.Errorf("got %+v", got)
	}
}

func TestHeadersBelongToTheCall(t *testing.T) {
	place := serve(t, newMCP(nil))
	box := openServers(t, place.server("web"))
	mustCall(t, box, toolbox.Call{Server: "web", Tool: "touch", Bearer: "canary", SessionID: "sid-1", IdempotencyKey: "key-1"})
	mustCall(t, box, toolbox.Call{Server: "web", Tool: "touch"})
	calls := place.requestsWith(toolsCall)
	if h := calls[0].header; h.Get("Authorization") != "Bearer canary" || h.Get("X-Session-ID") != "sid-1" {
		t.Errorf("got %v", h)
	}
	if h := calls[0].header; h.Get("Mcp-Protocol-Version") != "2025-11-25" {
		t.Errorf("protocol: %v", h)
	}
	if !strings.Contains(calls[0].body, `"agent-stop-and-go/idempotency-key":"key-1"`) {
		t.Errorf("got %s", calls[0].body)
	}
	for _, r := range append(place.requestsWith("initialize"), calls[1]) {
		if h := r.header; h.Get("Authorization") != "" || h.Get("X-Session-ID") != "" {
			t.Errorf("%s carries %v", r.body, h)
		}
	}
	if hello := place.requestsWith(`"method":"initialize"`)[0].body; !strings.Contains(hello, `"clientInfo":{"name":"agent-stop-and-go","version":"1.0.0"}`) {
		t.Errorf("got %s", hello)
	}
}

func TestIdempotencyKeyReachesAChild(t *testing.T) {
	box := openServers(t, child(t, "child"))
	if got := mustCall(t, box, toolbox.Call{Server: "child", Tool: "meta", IdempotencyKey: "key-2"}); got.Text != "key-2" {
		t.Errorf("got %+v", got)
	}
}

func TestRedirectDoesNotCarryTheTokenAway(t *testing.T) {
	thief := serve(t, newMCP(nil))
	place := serve(t, newMCP(nil))
	place.onRequest(func(w http.ResponseWriter, r *http.Request, body string) bool {
		if strings.Contains(body, toolsCall) {
			http.Redirect(w, r, "http://"+thief.addr+"/mcp", http.StatusTemporaryRedirect)
			return true
		}
		return false
	})
	box := openServers(t, place.server("web"))
	_, err := box.Call(t.Context(), toolbox.Call{Server: "web", Tool: "touch", Bearer: "canary"})
	wantKind(t, err, contract.KindToolFailed)
	if len(thief.requestsWith("")) != 0 {
		t.Errorf("the thief got %v", thief.requestsWith(""))
	}
}

func TestTokenInTheServersWordsIsHidden(t *testing.T) {
	place := serve(t, newMCP(nil))
	box := openServers(t, place.server("web"))
	got := mustCall(t, box, toolbox.Call{Server: "web", Tool: "echo", Bearer: "canary-1", Arguments: []byte(`{"text":"you said canary-1"}`)})
	if got.Text != "you said [bearer token]" {
		t.Errorf("got %q", got.Text)
	}
	_, err := box.Call(t.Context(), toolbox.Call{Server: "web", Tool: "canary-1", Bearer: "canary-1"})
	wantKind(t, err, contract.KindToolFailed)
	if strings.Contains(strings.TrimPrefix(err.Error(), "call canary-1"), "canary-1") {
		t.Errorf("got %v", err)
	}
}

func TestTheServersOwnCredentialsAreHidden(t *testing.T) {
	s := serve(t, newMCP(nil)).server("web")
	s.Headers = map[string]string{"Authorization": "Bearer own-canary", "X-API-Key": "key-canary", "X-Team": "our-shop-team", "X-Auth-Kind": "none"}
	box := openServers(t, s)
	got := mustCall(t, box, toolbox.Call{Server: "web", Tool: "echo", Bearer: "canary-1", Arguments: []byte(`{"text":"own-canary, key-canary, our-shop-team, none, canary-1"}`)})
	if want := "[secret], [secret], our-shop-team, none, [bearer token]"; got.Text != want {
		t.Errorf("got %q, want %q", got.Text, want)
	}
	_, err := box.Call(t.Context(), toolbox.Call{Server: "web", Tool: "own-canary"})
	wantKind(t, err, contract.KindToolFailed)
	if strings.Contains(strings.TrimPrefix(err.Error(), "call own-canary"), "canary") {
		t.Errorf("got %v", err)
	}
}

func TestCredentialsAreHiddenInOtherFormsToo(t *testing.T) {
	s := serve(t, newMCP(nil)).server("web")
	s.Headers, s.Secrets = map[string]string{"X-Gate": "Bearer gate-canary/1"}, []string{"Bearer gate-canary/1"}
	box := openServers(t, s)
	for _, secret := range []string{"gate-canary/1", "caller-canary/2"} {
		for name, said := range map[string]string{
			"plain": secret, "upper case": strings.ToUpper(secret), "hex": hex.EncodeToString([]byte(secret)), "of a query": url.QueryEscape(secret),
			"base64": base64.StdEncoding.EncodeToString([]byte(secret)), "base64 behind others": base64.RawURLEncoding.EncodeToString([]byte("user:" + secret)),
		} {
			args, _ := json.Marshal(map[string]string{"text": "you said " + said})
			got := mustCall(t, box, toolbox.Call{Server: "web", Tool: "echo", Bearer: "caller-canary/2", Arguments: args})
			if strings.Contains(got.Text, said[8:]) || !strings.Contains(got.Text, "[") {
				t.Errorf("%s: got %q", name, got.Text)
			}
		}
	}
}

func TestCredentialsAreHiddenInDescriptionsOfTools(t *testing.T) {
	const secret = "own-canary-0123"
	s := serveRaw(t, raw{"tools/list": says(`{"tools":[{"name":"touch","description":"with ` + secret + `","inputSchema":{"type":"object","title":"` + secret + `"}}]}`)}).server("web")
	s.Headers = map[string]string{"Authorization": "Bearer " + secret}
	tools := openServers(t, s).Tools(t.Context())
	if len(tools) != 1 || tools[0].Description != "with [secret]" || string(tools[0].InputSchema) != `{"type":"object","title":"[secret]"}` {
		t.Errorf("got %+v", tools)
	}
}

func TestCredentialsAreHiddenInWhyAConnectionWasLost(t *testing.T) {
	const secret = "own-canary-0123"
	s := toolbox.Server{Name: "web", URL: "http://127.0.0.1:1/mcp", Headers: map[string]string{"Authorization": "Bearer " + secret}}
	why := toolbox.Retired(s, fmt.Errorf("list the tools: %w, not with %s", io.ErrUnexpectedEOF, secret))
	if text := why.Error(); strings.Contains(text, secret) || !strings.Contains(text, "[secret]") || !errors.Is(why, io.ErrUnexpectedEOF) {
		t.Errorf("got %q", text)
	}
}

func TestVariablesOfAServerAreHiddenInItsWords(t *testing.T) {
	s := serve(t, newMCP(nil)).server("web")
	s.Env = map[string]string{"DB_PASSWD": "passwd-canary", "DSN": "postgres://u:dsn-canary@h/db", "MODE": "our-shop-mode"}
	s.Secrets = []string{"ghp-canary"}
	got := mustCall(t, openServers(t, s), toolbox.Call{
		Server: "web", Tool: "echo", Arguments: []byte(`{"text":"passwd-canary, dsn-canary, ghp-canary, our-shop-mode"}`),
	})
	if want := "[secret], [secret], [secret], our-shop-mode"; got.Text != want {
		t.Errorf("got %q, want %q", got.Text, want)
	}
}

func TestShortTokensAreNotCutOut(t *testing.T) {
	s := serve(t, newMCP(nil)).server("web")
	s.Headers = map[string]string{"X-API-Key": "long-canary-and-more"}
	box := openServers(t, s)
	got := mustCall(t, box, toolbox.Call{Server: "web", Tool: "echo", Bearer: "e", Arguments: []byte(`{"text":"every one"}`)})
	if got.Text != "every one" {
		t.Errorf("got %q", got.Text)
	}
	for range 20 { // one secret is a prefix of the other
		got = mustCall(t, box, toolbox.Call{Server: "web", Tool: "echo", Bearer: "long-canary", Arguments: []byte(`{"text":"long-canary-and-more"}`)})
		if got.Text != "[secret]" {
			t.Fatalf("got %q", got.Text)
		}
	}
}
