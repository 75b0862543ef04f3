package exchange_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/activities/bearer"
	"agent-stop-and-go/activities/bearer/exchange"
	"agent-stop-and-go/activities/bearer/exchange/exchangetest"
	"agent-stop-and-go/workflows/contract/login"
	"agent-stop-and-go/workflows/credential"
)

var stock = bearer.Server{Name: "stock", URL: "https://stock.example.com/mcp"}

// world is a provider that knows the agent shop.
func world(t *testing.T) (*exchangetest.Provider, exchange.Settings) {
	p := exchangetest.New(t)
	p.Clients["shop"] = exchangetest.Client{Secret: "s3cret: of the agent shop"}
	p.Audiences = []string{"stock", stock.URL}
	return p, exchange.Settings{Issuer: p.URL, ClientID: "shop", Secret: "s3cret: of the agent shop"}
}

func get(t *testing.T, s bearer.Source, token string, refusal *bearer.Refusal) (credential.Token, error) {
	t.Helper()
	return s.Token(t.Context(), bearer.Request{Server: stock, Caller: credential.Token{Bearer: token}, Refusal: refusal})
}

func mustGet(t *testing.T, s bearer.Source, token string, refusal *bearer.Refusal) string {
	t.Helper()
	out, err := get(t, s, token, refusal)
	if err != nil {
		t.Fatal(err)
	}
	return out.Bearer
}

func TestATokenShowsThePersonAndAllAgents(t *testing.T) {
	p, settings := world(t)
	source := exchange.NewProvider(settings).Source(exchange.Target{Audience: "stock", Scopes: []string{"read", "write"}})
	caller := p.Token("alice", "shop", map[string]any{"act": map[string]any{"sub": "assistant"}})
	claims, err := p.Claims(mustGet(t, source, caller, nil))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"sub": "shop", "act": map[string]any{"sub": "assistant"}}
	if claims["sub"] != "alice" || claims["aud"] != "stock" || claims["scope"] != "read write" || !cmp.Equal(claims["act"], any(want)) {
		t.Errorf("got %v", claims)
	}
	form := p.Requests("token-exchange")[0]
	if form.Get("subject_token") != caller || form.Get("subject_token_type") != "urn:ietf:params:oauth:token-type:access_token" || form.Has("resource") {
		t.Errorf("sent %v", form)
	}
}

func TestWithoutAudienceATokenIsForTheURL(t *testing.T) {
	p, settings := world(t)
	settings.Issuer, settings.TokenURL, settings.WithoutActor = "", p.URL+"/token", true
	source := exchange.NewProvider(settings).Source(exchange.Target{})
	claims, err := p.Claims(mustGet(t, source, p.Token("alice", "shop", nil), nil))
	if err != nil || claims["aud"] != stock.URL || claims["act"] != nil {
		t.Errorf("got %v, %v", claims, err)
	}
	if n := len(p.Requests("client_credentials")); n != 0 {
		t.Errorf("%d tokens for the agent", n)
	}
}

func TestATokenIsKeptForItsCallerAndServer(t *testing.T) {
	p, settings := world(t)
	var late atomic.Int64
	settings.Now = func() time.Time { return time.Now().Add(time.Duration(late.Load())) }
	provider := exchange.NewProvider(settings)
	byName, byURL := provider.Source(exchange.Target{Audience: "stock"}), provider.Source(exchange.Target{})
	alice, bob := p.Token("alice", "shop", nil), p.Token("bob", "shop", nil)
	first := mustGet(t, byName, alice, nil)
	for what, same := range map[string]bool{
		"again": mustGet(t, byName, alice, nil) == first, "bob's": mustGet(t, byName, bob, nil) == first, "elsewhere": mustGet(t, byURL, alice, nil) == first,
	} {
		if same != (what == "again") {
			t.Errorf("%s: the same token: %t", what, same)
		}
	}
	if n, own := len(p.Requests("token-exchange")), len(p.Requests("client_credentials")); n != 3 || own != 1 {
		t.Errorf("%d exchanges, %d tokens for the agent", n, own)
	}
	late.Store(int64(4*time.Minute + 31*time.Second)) // the provider says five minutes
	if mustGet(t, byName, alice, nil) == first {
		t.Error("a token is used until it has expired on the way")
	}
}

func TestARefusedTokenIsExchangedAgain(t *testing.T) {
	p, settings := world(t)
	source := exchange.NewProvider(settings).Source(exchange.Target{Audience: "stock"})
	alice := p.Token("alice", "shop", nil)
	first := mustGet(t, source, alice, nil)
	refusal := bearer.RefusalOf(nil)
	refusal.Token.Bearer = first
	second := mustGet(t, source, alice, refusal)
	if second == first || mustGet(t, source, alice, nil) != second || mustGet(t, source, alice, refusal) != second {
		t.Error("the refused token is used again, or its successor is not")
	}
	refusal = bearer.RefusalOf(nil)
	refusal.Token.Bearer, refusal.Again = second, true
	if _, err := get(t, source, alice, refusal); bearer.Login(err) == nil || bearer.Login(err).Way != login.AtAgent {
		t.Errorf("after a token that is refused at once: %v", err)
	}
	var refused *bearer.Refused
	if _, err := get(t, source, alice, &bearer.Refusal{Status: http.StatusForbidden}); !errors.As(err, &refused) || !strings.Contains(refused.Reason, "exchange.scopes") {
		t.Errorf("got %v", err)
	}
}

func TestCallsAtTheSameTimeShareOneExchange(t *testing.T) {
	p, settings := world(t)
	source := exchange.NewProvider(settings).Source(exchange.Target{Audience: "stock"})
	alice := p.Token("alice", "shop", nil)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() { mustGet(t, source, alice, nil) })
	}
	wg.Wait()
	if n := len(p.Requests("token-exchange")); n != 1 {
		t.Errorf("%d exchanges", n)
	}
}

func TestAnAgentMayAuthenticateByAKey(t *testing.T) {
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	ecKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, edKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8 := func(key any) string {
		der, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	}
	jwk, err := json.Marshal(jose.JSONWebKey{Key: ecKey, KeyID: "jwk"})
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		text   string
		public any
	}{
		"RSA": {pkcs8(rsaKey), rsaKey.Public()}, "ECDSA": {pkcs8(ecKey), ecKey.Public()}, "Ed25519": {pkcs8(edKey), edKey.Public()},
		"JWK": {string(jwk), ecKey.Public()},
	} {
		p, settings := world(t)
		p.Clients["shop"] = exchangetest.Client{Key: tc.public}
		settings.Secret = ""
		if settings.Key, err = exchange.ParseKey(tc.text, "k1"); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		source := exchange.NewProvider(settings).Source(exchange.Target{Audience: "stock"})
		if _, err := p.Claims(mustGet(t, source, p.Token("alice", "shop", nil), nil)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	public, _ := json.Marshal(jose.JSONWebKey{Key: ecKey.Public()})
	for name, text := range map[string]string{"text": "canary", "half a JWK": `{"kty":"canary"`, "a public key": string(public), "another PEM": "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"} {
		if k, err := exchange.ParseKey(text, ""); err == nil || k != nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// What the provider answers decides whether a person can help, an operator, or time.
func TestErrorsOfTheProvider(t *testing.T) {
	const login, refused, away = "login", "refused", "away"
	for code, want := range map[string]string{
		"invalid_request": login, "invalid_grant": login, "invalid_client": refused, "unauthorized_client": refused, "unsupported_grant_type": refused,
		"invalid_target": refused, "invalid_scope": refused, "access_denied": refused, "something_new": refused,
		"503": away, "429": away, "nothing": away,
	} {
		p, settings := world(t)
		alice := p.Token("alice", "shop", nil)
		p.Answer = func(w http.ResponseWriter, form url.Values) bool {
			if form.Get("grant_type") == "client_credentials" {
				return false
			}
			switch code {
			case "503", "429":
				w.WriteHeader(map[string]int{"503": 503, "429": 429}[code])
			case "nothing":
				panic(http.ErrAbortHandler)
			default:
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprintf(w, `{"error":%q,"error_description":%q}`, code, "not with "+form.Get("subject_token")+" and "+form.Get("actor_token"))
			}
			return true
		}
		_, err := get(t, exchange.NewProvider(settings).Source(exchange.Target{Audience: "stock"}), alice, nil)
		got := away
		if bearer.Login(err) != nil {
			got = login
		} else if !bearer.Temporary(err) {
			got = refused
		}
		if err == nil || got != want {
			t.Errorf("%s: %s, %v", code, got, err)
			continue
		}
		for _, secret := range append(p.Issued(), settings.Secret) {
			if strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), secret[len(secret)-20:]) {
				t.Errorf("%s: the error has a secret: %v", code, err)
			}
		}
	}
}

func TestAnAnswerThatIsNoExchangedToken(t *testing.T) {
	for name, answer := range map[string]string{
		"no type":      `{"access_token":"abcdefgh-abcdefgh","token_type":"Bearer"}`,
		"not a bearer": `{"access_token":"abcdefgh-abcdefgh","token_type":"N_A","issued_token_type":"urn:ietf:params:oauth:token-type:jwt"}`,
	} {
		p, settings := world(t)
		settings.WithoutActor = true
		p.Answer = func(w http.ResponseWriter, _ url.Values) bool {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, answer)
			return true
		}
		var refused *bearer.Refused
		_, err := get(t, exchange.NewProvider(settings).Source(exchange.Target{Audience: "stock"}), p.Token("alice", "shop", nil), nil)
		if !errors.As(err, &refused) || strings.Contains(err.Error(), "abcdefgh") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestTheCallersTokenMustBeValid(t *testing.T) {
	p, settings := world(t)
	source := exchange.NewProvider(settings).Source(exchange.Target{Audience: "stock"})
	for name, token := range map[string]string{
		"none": "", "expired": p.Token("alice", "shop", map[string]any{"exp": time.Now().Add(-time.Hour).Unix()}), "of somebody else": "canary-token-0123456789",
	} {
		_, err := get(t, source, token, nil)
		if login := bearer.Login(err); login == nil || login.Server != "stock" || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	var refused *bearer.Refused
	if _, err := get(t, source, p.Token("alice", "another agent", nil), nil); !errors.As(err, &refused) || !strings.Contains(err.Error(), "act for the caller") {
		t.Errorf("got %v", err)
	}
}

// An agent's own token that the provider has forgotten is no reason to ask the caller.
func TestTheAgentsOwnTokenIsReplaced(t *testing.T) {
	p, settings := world(t)
	source := exchange.NewProvider(settings).Source(exchange.Target{Audience: "stock"})
	mustGet(t, source, p.Token("alice", "shop", nil), nil)
	old := p.Requests("token-exchange")[0].Get("actor_token")
	p.Answer = func(w http.ResponseWriter, form url.Values) bool {
		if form.Get("actor_token") != old {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"error":"invalid_request"}`)
		return true
	}
	mustGet(t, source, p.Token("bob", "shop", nil), nil)
	settings.Secret = "another"
	var refused *bearer.Refused
	if _, err := get(t, exchange.NewProvider(settings).Source(exchange.Target{Audience: "stock"}), p.Token("bob", "shop", nil), nil); !errors.As(err, &refused) || !strings.Contains(err.Error(), "client_id") {
		t.Errorf("got %v", err)
	}
}
