package gateway_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/gateway/identity/attempts"
	"agent-stop-and-go/gateway/identity/forwarded"
	"agent-stop-and-go/gateway/identity/identitytest"
	"agent-stop-and-go/gateway/identity/keys"
	"agent-stop-and-go/workflows/contract"
)

// exhaust sends requests with proofs that do not hold until one is not checked.
func exhaust(t *testing.T, send func() reply) reply {
	t.Helper()
	var last reply
	for range attempts.Burst + 20 {
		if last = send(); last.header.Get("Retry-After") != "" {
			return last
		}
	}
	t.Fatalf("%d proofs that do not hold were all checked, the last one: %d %s", attempts.Burst+20, last.status, last.raw)
	return last
}

const textTooMany = "too many proofs from your address did not hold; try again in 1 s"

// frozen stops the clock of a gateway.
func frozen(d *gateway.Deps) {
	at := time.Now()
	d.Now = func() time.Time { return at }
}

func TestTokensThatDoNotHoldAreLimited(t *testing.T) {
	rs, stranger := identitytest.RSAKey(t, "1"), identitytest.RSAKey(t, "1")
	p := identitytest.NewProvider(t, rs)
	a := newOIDCAPI(t, p, &atomic.Int64{}, frozen)
	alice, forged := day(t, rs, p), "Authorization: Bearer "+stranger.Token(t, p.Claims(map[string]any{"sub": "mallory"}))
	a.want(200, a.do("GET", "/me", "", alice))
	for protocol, send := range map[string]func() reply{
		"REST":  func() reply { return a.do("GET", "/me", "", forged) },
		"AG-UI": func() reply { return a.do("POST", "/ag-ui", `{}`, forged) },
		"A2A": func() reply {
			return a.do("POST", "/a2a", `{"jsonrpc":"2.0","id":7,"method":"message/send","params":{}}`, forged)
		},
	} {
		wantTooMany(t, protocol, exhaust(t, send), "1", textTooMany)
	}
	a.want(200, a.do("GET", "/me", "", alice))
	a.want(200, a.do("GET", "/health/ready", "", forged))
	a.wantError(401, "does not say who calls", a.do("GET", "/me", ""))
}

func TestLoginsThatFailAreLimited(t *testing.T) {
	l := newLogins(t, frozen)
	key, err := keys.Add(l.keyFile, "ci", []string{contract.ScopeRead}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	b := l.visitor()
	logIn := func(key string) reply { return b.do("POST", "/auth/session", `{"key":"`+key+`"}`) }
	if r := logIn(key); r.status != 200 {
		t.Fatalf("with a key: %d %s", r.status, r.raw)
	}
	none := "asg_00000000_" + strings.Repeat("0", 64)
	wantTooMany(t, "keys", exhaust(t, func() reply { return logIn(none) }), "1", textTooMany)
	callback := newRequest("GET", "/auth/callback?code=1&state=2", "")
	w := httptest.NewRecorder()
	l.ServeHTTP(w, callback)
	if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "1" || !strings.Contains(w.Body.String(), textTooMany) {
		t.Errorf("the answer of a provider: %d %s", w.Code, w.Body)
	}
	if r := logIn(key); r.status != 200 {
		t.Errorf("with a key that is known: %d %s", r.status, r.raw)
	}
}

// Somebody behind the same proxy sends junk without end.
func TestJunkLocksNobodyOut(t *testing.T) {
	l := newLogins(t, frozen)
	key, err := keys.Add(l.keyFile, "ci", []string{contract.ScopeRead}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	logIn := func(key string) reply { return l.visitor().do("POST", "/auth/session", `{"key":"`+key+`"}`) }
	if r := logIn(key); r.status != 200 {
		t.Fatalf("with a key: %d %s", r.status, r.raw)
	}
	exhaust(t, func() reply { return logIn("asg_00000000_" + strings.Repeat("0", 64)) })
	exhaust(t, func() reply { return logIn(key[:len(key)-8] + "00000000") }) // in its name
	if r := logIn(key); r.status != 200 {
		t.Errorf("with the key that has held: %d %s", r.status, r.raw)
	}
	b := l.visitor()
	b.want(303, b.complete(b.begin()))
	if b.caller() != "alice" {
		t.Error("nobody is logged in")
	}
}

func TestOnlyKnownProxiesChangeTheAddressOfAgent(t *testing.T) {
	a := newAPI(t, &fakeBackend{}, func(d *gateway.Deps) { d.Proxies = forwarded.Proxies{netip.MustParsePrefix("10.0.0.0/8")} })
	for from, want := range map[string]string{"10.1.2.3:1": "https://localhost:8080/", "127.0.0.1:1": "https://localhost:8080/", "192.0.2.1:1": "http://localhost:8080/"} {
		r := newRequest("GET", "/.well-known/agent-card.json", "", "X-Forwarded-Proto: https")
		r.RemoteAddr = from
		if card := a.send(r, ""); !strings.Contains(card.raw, `"url":"`+want) {
			t.Errorf("from %s: %s, want %s", from, card.raw, want)
		}
	}
}
