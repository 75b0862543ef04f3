package identity_test

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/gateway/identity"
	"agent-stop-and-go/gateway/identity/identitytest"
	"agent-stop-and-go/workflows/contract"
)

// clock is a clock that tests move.
type clock struct {
	mu    sync.Mutex
	ahead time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.ahead)
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += d
}

func oidcWay(p *identitytest.Provider, changes ...func(*identity.OIDCSettings)) *identity.OIDC {
	s := identity.OIDCSettings{
		Issuer: p.URL, Audience: "agent", SubjectClaim: "sub", GroupsClaim: "groups", ClockSkew: 30 * time.Second,
		Grants: identity.Grants{Scopes: []string{contract.ScopeRead}, Groups: map[string][]string{"ops": {contract.ScopeOperate}}},
	}
	for _, change := range changes {
		change(&s)
	}
	return identity.NewOIDC(s)
}

func ask(token string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("Authorization", "Bearer "+token)
	return r
}

func TestTokensOfAProvider(t *testing.T) {
	rs, es := identitytest.RSAKey(t, "rs"), identitytest.ECKey(t, "es")
	p := identitytest.NewProvider(t, rs, es)
	ways := identity.Ways{oidcWay(p, func(s *identity.OIDCSettings) { s.ScopesFromToken = true })}
	for name, tc := range map[string]struct {
		signer identitytest.Signer
		claims map[string]any
		want   contract.Identity
	}{
		"RSA": {rs, nil, contract.Identity{Subject: "alice", Groups: []string{"ops", "staff"}, Scopes: []string{"read", "operate"}}},
		"elliptic curve, one group as a text": {es, map[string]any{"groups": "staff"},
			contract.Identity{Subject: "alice", Groups: []string{"staff"}, Scopes: []string{"read"}}},
		"scopes in scope": {rs, map[string]any{"groups": nil, "scope": "openid approve read:all"},
			contract.Identity{Subject: "alice", Scopes: []string{"read", "approve", "read:all"}}},
		"scopes in scp": {rs, map[string]any{"groups": nil, "scp": []string{"converse"}},
			contract.Identity{Subject: "alice", Scopes: []string{"converse", "read"}}},
		"several audiences": {rs, map[string]any{"groups": nil, "aud": []string{"other", "agent"}},
			contract.Identity{Subject: "alice", Scopes: []string{"read"}}},
		"ended a moment ago, by our clock": {rs, map[string]any{"groups": nil, "exp": time.Now().Add(-10 * time.Second).Unix()},
			contract.Identity{Subject: "alice", Scopes: []string{"read"}}},
		"begins in a moment, by our clock": {rs, map[string]any{"groups": nil, "nbf": time.Now().Add(10 * time.Second).Unix()},
			contract.Identity{Subject: "alice", Scopes: []string{"read"}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ways.Identify(ask(tc.signer.Token(t, p.Claims(tc.claims))))
			if err != nil {
				t.Fatal(err)
			}
			tc.want.Issuer = p.URL
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestTokensThatProveNothing(t *testing.T) {
	rs, stranger := identitytest.RSAKey(t, "rs"), identitytest.RSAKey(t, "rs")
	p := identitytest.NewProvider(t, rs)
	ways := identity.Ways{oidcWay(p)}
	valid := rs.Token(t, p.Claims(nil))
	for name, tc := range map[string]struct{ token, want string }{
		"other issuer":                {rs.Token(t, p.Claims(map[string]any{"iss": "https://other.example.com"})), "nobody here can check"},
		"other audience":              {rs.Token(t, p.Claims(map[string]any{"aud": "other"})), "audience"},
		"no audience":                 {rs.Token(t, p.Claims(map[string]any{"aud": nil})), "audience"},
		"expired":                     {rs.Token(t, p.Claims(map[string]any{"exp": time.Now().Add(-time.Minute).Unix()})), "expired at"},
		"without an end":              {rs.Token(t, p.Claims(map[string]any{"exp": nil})), "expired at"},
		"not valid yet":               {rs.Token(t, p.Claims(map[string]any{"nbf": time.Now().Add(time.Minute).Unix()})), "not valid yet"},
		"no subject":                  {rs.Token(t, p.Claims(map[string]any{"sub": nil})), "no sub"},
		"a subject that is no text":   {rs.Token(t, p.Claims(map[string]any{"sub": 7})), "not valid"},
		"a subject that is too long":  {rs.Token(t, p.Claims(map[string]any{"sub": strings.Repeat("x", 300)})), "subject: expected at most"},
		"a subject of several lines":  {rs.Token(t, p.Claims(map[string]any{"sub": "alice\nbob"})), "printable"},
		"signed by somebody else":     {stranger.Token(t, p.Claims(nil)), "signature"},
		"no signature":                {unsigned(t, p.Claims(nil)), "not valid"},
		"the public key as a secret":  {withPublicKeyAsSecret(t, rs, p.Claims(nil)), "not valid"},
		"a changed signature":         {valid[:len(valid)-8] + "AAAAAAAA", "signature"},
		"other claims under the same": {withOtherClaims(t, valid, p.Claims(map[string]any{"sub": "root"})), "signature"},
		"no token":                    {"asdf", "nobody here can check"},
	} {
		t.Run(name, func(t *testing.T) {
			caller, err := ways.Identify(ask(tc.token))
			var refused *identity.Refused
			if !errors.As(err, &refused) || !strings.Contains(refused.Reason, tc.want) {
				t.Errorf("got %+v, %v, want %q", caller, err, tc.want)
			}
			if err != nil && strings.Contains(err.Error(), tc.token) {
				t.Errorf("the error has the token: %v", err)
			}
		})
	}
}

func unsigned(t *testing.T, claims map[string]any) string {
	t.Helper()
	payload, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(`{"alg":"none"}`)) + "." + encode(payload) + "."
}

// withPublicKeyAsSecret signs with the PEM of the public key, which a verifier that accepts any
// algorithm takes for a shared secret.
func withPublicKeyAsSecret(t *testing.T, s identitytest.Signer, claims map[string]any) string {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(s.Private.Public().(*rsa.PublicKey))
	if err != nil {
		t.Fatal(err)
	}
	secret := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	return identitytest.Sign(t, jose.SigningKey{Algorithm: jose.HS256, Key: jose.JSONWebKey{Key: secret, KeyID: s.ID}}, claims)
}

func withOtherClaims(t *testing.T, token string, claims map[string]any) string {
	t.Helper()
	other := strings.Split(unsigned(t, claims), ".")[1]
	parts := strings.Split(token, ".")
	return parts[0] + "." + other + "." + parts[2]
}

func TestUnknownKeysFetchRarely(t *testing.T) {
	rs := identitytest.RSAKey(t, "rs")
	p := identitytest.NewProvider(t, rs)
	c := &clock{}
	way := oidcWay(p, func(s *identity.OIDCSettings) { s.Now = c.now })
	var callers sync.WaitGroup
	for i := range 50 {
		stranger := identitytest.Signer{ID: fmt.Sprint("unknown", i), Algorithm: rs.Algorithm, Private: rs.Private}
		token := stranger.Token(t, p.Claims(nil))
		callers.Go(func() {
			if _, err := way.Identify(ask(token)); err == nil {
				t.Error("a token with an unknown key was accepted")
			}
		})
	}
	callers.Wait()
	if n := p.Fetches.Load(); n != 1 {
		t.Errorf("the keys were fetched %d times, want once", n)
	}
	identify(t, way, rs.Token(t, p.Claims(nil))) // the others are not harmed
}

func identify(t *testing.T, way identity.Way, token string) {
	t.Helper()
	if _, err := way.Identify(ask(token)); err != nil {
		t.Error(err)
	}
}

func TestKeysRotate(t *testing.T) {
	first, second := identitytest.RSAKey(t, "1"), identitytest.ECKey(t, "2")
	p := identitytest.NewProvider(t, first)
	c := &clock{}
	way := oidcWay(p, func(s *identity.OIDCSettings) { s.Now = c.now })
	old := first.Token(t, p.Claims(map[string]any{"exp": time.Now().Add(48 * time.Hour).Unix()}))
	identify(t, way, old)

	p.Publish(second)
	c.add(11 * time.Second)
	identify(t, way, second.Token(t, p.Claims(nil)))
	var refused *identity.Refused
	if _, err := way.Identify(ask(old)); !errors.As(err, &refused) {
		t.Errorf("a token of a withdrawn key: %v", err)
	}
}

// TestWithdrawnKeysEnd withdraws a key while nobody uses another one.
func TestWithdrawnKeysEnd(t *testing.T) {
	first, second := identitytest.RSAKey(t, "1"), identitytest.ECKey(t, "2")
	p := identitytest.NewProvider(t, first)
	c := &clock{}
	way := oidcWay(p, func(s *identity.OIDCSettings) { s.Now = c.now })
	token := first.Token(t, p.Claims(map[string]any{"exp": time.Now().Add(48 * time.Hour).Unix()}))
	identify(t, way, token)
	p.Publish(second)
	c.add(11 * time.Minute)
	deadline := time.Now().Add(10 * time.Second)
	for {
		if _, err := way.Identify(ask(token)); err != nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the token of a withdrawn key is still accepted")
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func TestAProviderThatIsAway(t *testing.T) {
	rs := identitytest.RSAKey(t, "rs")
	p := identitytest.NewProvider(t, rs)
	c := &clock{}
	way := oidcWay(p, func(s *identity.OIDCSettings) { s.Now = c.now })
	token := rs.Token(t, p.Claims(map[string]any{"exp": time.Now().Add(72 * time.Hour).Unix()}))

	p.Away.Store(true)
	var away *identity.Unavailable
	if _, err := way.Identify(ask(token)); !errors.As(err, &away) {
		t.Errorf("before the first contact: %v", err)
	}
	p.Away.Store(false)
	c.add(11 * time.Second)
	identify(t, way, token)

	p.Away.Store(true)
	for range 10 {
		c.add(time.Hour)
		identify(t, way, token) // with the keys of before
	}
	c.add(15 * time.Hour)
	if _, err := way.Identify(ask(token)); !errors.As(err, &away) {
		t.Errorf("after a day: %v", err)
	}
	p.Away.Store(false)
	c.add(11 * time.Second)
	identify(t, way, token)
}

// An address that anybody may claim names nobody.
func TestOnlyVerifiedEmailsNameCallers(t *testing.T) {
	rs := identitytest.RSAKey(t, "rs")
	p := identitytest.NewProvider(t, rs)
	way := oidcWay(p, func(s *identity.OIDCSettings) { s.SubjectClaim = "email" })
	for name, tc := range map[string]struct {
		verified any
		want     bool
	}{
		"verified": {true, true}, "verified, as a text": {"true", true},
		"not verified": {false, false}, "no word of it": {nil, false}, "another value": {1, false},
	} {
		token := rs.Token(t, p.Claims(map[string]any{"email": "alice@example.com", "email_verified": tc.verified}))
		got, err := identity.Ways{way}.Identify(ask(token))
		if tc.want != (err == nil) || tc.want && got.Subject != "alice@example.com" || !tc.want && !strings.Contains(err.Error(), "not verified") {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
}
