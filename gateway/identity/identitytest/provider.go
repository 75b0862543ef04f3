// Package identitytest is an OpenID provider for tests.
package identitytest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// Provider is an OpenID provider with discovery and a key set.
type Provider struct {
	*httptest.Server
	Fetches atomic.Int32 // of the key set
	Away    atomic.Bool

	mu     sync.Mutex
	keys   []jose.JSONWebKey
	logins *logins
}

func NewProvider(t testing.TB, keys ...Signer) *Provider {
	t.Helper()
	p := &Provider{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		document := map[string]any{"issuer": p.URL, "jwks_uri": p.URL + "/keys", "id_token_signing_alg_values_supported": []string{"RS256"}}
		maps.Copy(document, p.endpoints())
		p.reply(w, document)
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		p.Fetches.Add(1)
		p.mu.Lock()
		defer p.mu.Unlock()
		unknown := map[string]any{"kty": "of the future", "kid": "new"}
		p.reply(w, map[string]any{"keys": append([]any{unknown}, list(p.keys)...)})
	})
	if len(keys) > 0 {
		p.logins = &logins{provider: p, t: t, signer: keys[0], codes: map[string]grant{}}
		p.logins.register(mux)
	}
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	p.Publish(keys...)
	return p
}

func list(keys []jose.JSONWebKey) []any {
	var out []any
	for _, key := range keys {
		out = append(out, key)
	}
	return out
}

func (p *Provider) reply(w http.ResponseWriter, v any) {
	if p.Away.Load() {
		http.Error(w, "away", http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}

// Publish replaces the keys.
func (p *Provider) Publish(keys ...Signer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keys = nil
	for _, key := range keys {
		p.keys = append(p.keys, jose.JSONWebKey{Key: key.Private.Public(), KeyID: key.ID, Use: "sig"})
	}
}

// Signer is a private key of a provider.
type Signer struct {
	ID        string
	Algorithm jose.SignatureAlgorithm
	Private   crypto.Signer
}

func RSAKey(t testing.TB, id string) Signer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return Signer{id, jose.RS256, key}
}

func ECKey(t testing.TB, id string) Signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return Signer{id, jose.ES256, key}
}

// Token signs claims.
func (s Signer) Token(t testing.TB, claims map[string]any) string {
	t.Helper()
	return Sign(t, jose.SigningKey{Algorithm: s.Algorithm, Key: jose.JSONWebKey{Key: s.Private, KeyID: s.ID}}, claims)
}

func Sign(t testing.TB, key jose.SigningKey, claims map[string]any) string {
	t.Helper()
	s, err := jose.NewSigner(key, nil)
	if err != nil {
		t.Fatal(err)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	jws, err := s.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	token, err := jws.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// Claims are those of a valid token for alice, with changes. A nil removes a claim.
func (p *Provider) Claims(changes map[string]any) map[string]any {
	now := time.Now()
	c := map[string]any{
		"iss": p.URL, "aud": "agent", "sub": "alice", "groups": []string{"ops", "staff"},
		"iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
	}
	maps.Copy(c, changes)
	maps.DeleteFunc(c, func(_ string, v any) bool { return v == nil })
	return c
}
