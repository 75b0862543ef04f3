package identity_test

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

// provider is an OpenID provider with discovery and a key set.
type provider struct {
	*httptest.Server
	fetches atomic.Int32 // of the key set
	away    atomic.Bool

	mu   sync.Mutex
	keys []jose.JSONWebKey
}

func newProvider(t *testing.T, keys ...signer) *provider {
	t.Helper()
	p := &provider{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		p.reply(w, map[string]any{"issuer": p.URL, "jwks_uri": p.URL + "/keys", "id_token_signing_alg_values_supported": []string{"RS256"}})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		p.fetches.Add(1)
		p.mu.Lock()
		defer p.mu.Unlock()
		unknown := map[string]any{"kty": "of the future", "kid": "new"}
		p.reply(w, map[string]any{"keys": append([]any{unknown}, list(p.keys)...)})
	})
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	p.publish(keys...)
	return p
}

func list(keys []jose.JSONWebKey) []any {
	var out []any
	for _, key := range keys {
		out = append(out, key)
	}
	return out
}

func (p *provider) reply(w http.ResponseWriter, v any) {
	if p.away.Load() {
		http.Error(w, "away", http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}

// publish replaces the keys.
func (p *provider) publish(keys ...signer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keys = nil
	for _, key := range keys {
		p.keys = append(p.keys, jose.JSONWebKey{Key: key.private.Public(), KeyID: key.id, Use: "sig"})
	}
}

// signer is a private key of a provider.
type signer struct {
	id        string
	algorithm jose.SignatureAlgorithm
	private   crypto.Signer
}

func rsaKey(t *testing.T, id string) signer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return signer{id, jose.RS256, key}
}

func ecKey(t *testing.T, id string) signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return signer{id, jose.ES256, key}
}

// token signs claims.
func (s signer) token(t *testing.T, claims map[string]any) string {
	t.Helper()
	return sign(t, jose.SigningKey{Algorithm: s.algorithm, Key: jose.JSONWebKey{Key: s.private, KeyID: s.id}}, claims)
}

func sign(t *testing.T, key jose.SigningKey, claims map[string]any) string {
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

// claims are those of a valid token for alice, with changes. A nil removes a claim.
func (p *provider) claims(changes map[string]any) map[string]any {
	now := time.Now()
	c := map[string]any{
		"iss": p.URL, "aud": "agent", "sub": "alice", "groups": []string{"ops", "staff"},
		"iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
	}
	maps.Copy(c, changes)
	maps.DeleteFunc(c, func(_ string, v any) bool { return v == nil })
	return c
}
