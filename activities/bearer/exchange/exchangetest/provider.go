// Package exchangetest is a provider for tests that issues and exchanges tokens as RFC 6749, RFC
// 7523 and RFC 8693 say.
package exchangetest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/uuid"
)

// Client is an agent that the provider knows, by a secret or a public key.
type Client struct {
	Secret string
	Key    any
}

// Provider is an OpenID provider with discovery, keys and a token endpoint.
type Provider struct {
	*httptest.Server
	// Clients are the agents by their ID. Audiences are the names that tokens are issued for;
	// every other target is refused.
	Clients   map[string]Client
	Audiences []string
	// Lifetime is that of issued tokens, by default 5 minutes.
	Lifetime time.Duration
	// Answer, if set, may answer a request in place of the provider.
	Answer func(w http.ResponseWriter, form url.Values) (answered bool)

	key *ecdsa.PrivateKey

	mu       sync.Mutex
	requests []url.Values
	issued   []string
	used     map[string]bool // assertions
}

// New starts a provider.
func New(t testing.TB) *Provider {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p := &Provider{Clients: map[string]Client{}, Lifetime: 5 * time.Minute, key: key, used: map[string]bool{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, map[string]any{
			"issuer": p.URL, "jwks_uri": p.URL + "/keys", "token_endpoint": p.URL + "/token",
			"grant_types_supported":                 []string{"client_credentials", grantExchange},
			"id_token_signing_alg_values_supported": []string{"ES256"},
		})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "k1", Use: "sig"}}})
	})
	mux.HandleFunc("POST /token", p.token)
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

const (
	grantExchange = "urn:ietf:params:oauth:grant-type:token-exchange"
	typeAccess    = "urn:ietf:params:oauth:token-type:access_token"
)

// Requests returns the forms that were sent to the token endpoint, by grant.
func (p *Provider) Requests(grant string) []url.Values {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.requests), func(v url.Values) bool { return !strings.HasSuffix(v.Get("grant_type"), grant) })
}

// Issued returns all tokens that were issued.
func (p *Provider) Issued() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.issued)
}

// Token issues a token with claims of a person, valid for an hour unless they say otherwise.
func (p *Provider) Token(subject, audience string, changes map[string]any) string {
	now := time.Now()
	c := map[string]any{"iss": p.URL, "sub": subject, "aud": audience, "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(), "jti": uuid.NewString()}
	maps.Copy(c, changes)
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: p.key, KeyID: "k1"}}, nil)
	if err != nil {
		panic(err) // the key fits
	}
	payload, _ := json.Marshal(c) // of texts and numbers
	signed, err := signer.Sign(payload)
	if err != nil {
		panic(err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		panic(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.issued = append(p.issued, token)
	return token
}

// Claims returns the claims of a token of this provider that is valid now.
func (p *Provider) Claims(token string) (map[string]any, error) {
	return verified(token, &p.key.PublicKey, p.URL)
}

func verified(token string, key any, issuer string) (map[string]any, error) {
	signed, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.ES256, jose.RS256, jose.EdDSA})
	if err != nil {
		return nil, err
	}
	payload, err := signed.Verify(key)
	if err != nil {
		return nil, err
	}
	var c map[string]any
	if err := json.Unmarshal(payload, &c); err != nil {
		return nil, err
	}
	switch exp, _ := c["exp"].(float64); {
	case c["iss"] != issuer:
		return nil, errors.New("another issuer")
	case time.Now().Unix() >= int64(exp):
		return nil, errors.New("expired")
	}
	return c, nil
}

func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	if kind := r.Header.Get("Content-Type"); kind != "application/x-www-form-urlencoded" {
		refuse(w, http.StatusBadRequest, "invalid_request", "expected a form, not "+kind)
		return
	}
	if err := r.ParseForm(); err != nil {
		refuse(w, http.StatusBadRequest, "invalid_request", "no form")
		return
	}
	p.mu.Lock()
	p.requests = append(p.requests, r.PostForm)
	p.mu.Unlock()
	if p.Answer != nil && p.Answer(w, r.PostForm) {
		return
	}
	for name, values := range r.PostForm {
		if len(values) > 1 && name != "audience" && name != "resource" { // RFC 6749 §3.2, RFC 8693 §2.1
			refuse(w, http.StatusBadRequest, "invalid_request", name+" is repeated")
			return
		}
	}
	client, ok := p.client(r)
	if !ok {
		w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
		refuse(w, http.StatusUnauthorized, "invalid_client", "unknown client")
		return
	}
	switch r.PostForm.Get("grant_type") {
	case "client_credentials":
		p.answer(w, map[string]any{"access_token": p.Token(client, p.URL, p.end()), "token_type": "Bearer"})
	case grantExchange:
		p.exchange(w, client, r.PostForm)
	default:
		refuse(w, http.StatusBadRequest, "unsupported_grant_type", "")
	}
}

func (p *Provider) end() map[string]any {
	return map[string]any{"exp": time.Now().Add(p.Lifetime).Unix()}
}

func (p *Provider) answer(w http.ResponseWriter, members map[string]any) {
	members["expires_in"] = int(p.Lifetime.Seconds())
	w.Header().Set("Cache-Control", "no-store")
	reply(w, http.StatusOK, members)
}

// client returns who has sent a request: by a secret (RFC 6749 §2.3.1) or an assertion (RFC 7523
// §2.2), and by one of them only.
func (p *Provider) client(r *http.Request) (string, bool) {
	id, secret, basic := r.BasicAuth()
	assertion := r.PostForm.Get("client_assertion")
	switch {
	case basic && assertion != "":
		return "", false
	case assertion != "":
		id = r.PostForm.Get("client_id")
		return id, r.PostForm.Get("client_assertion_type") == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer" && p.asserts(id, assertion)
	case basic: // both are form-encoded before they are joined
		id, _ = url.QueryUnescape(id)
		secret, _ = url.QueryUnescape(secret)
	default:
		id, secret = r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	}
	c, known := p.Clients[id]
	return id, known && c.Secret != "" && c.Secret == secret
}

func (p *Provider) asserts(id, assertion string) bool {
	c, err := verified(assertion, p.Clients[id].Key, id)
	if err != nil || c["sub"] != id || c["aud"] != p.URL {
		return false
	}
	jti, _ := c["jti"].(string)
	p.mu.Lock()
	defer p.mu.Unlock()
	replayed := p.used[jti]
	p.used[jti] = true
	return jti != "" && !replayed
}

func (p *Provider) exchange(w http.ResponseWriter, client string, form url.Values) {
	subject, err := p.Claims(form.Get("subject_token"))
	audience := form.Get("audience")
	switch {
	case err != nil || form.Get("subject_token_type") != typeAccess:
		refuse(w, http.StatusBadRequest, "invalid_request", "subject_token "+form.Get("subject_token")+" is not valid") // some providers repeat it
		return
	case subject["aud"] != client:
		refuse(w, http.StatusBadRequest, "access_denied", "the token is not for "+client)
		return
	case form.Get("requested_token_type") != "" && form.Get("requested_token_type") != typeAccess:
		refuse(w, http.StatusBadRequest, "invalid_request", "requested_token_type")
		return
	case audience == "":
		audience = form.Get("resource")
	}
	if !slices.Contains(p.Audiences, audience) {
		refuse(w, http.StatusBadRequest, "invalid_target", "unknown audience "+audience)
		return
	}
	claims := p.end()
	if scope := form.Get("scope"); scope != "" {
		claims["scope"] = scope
	}
	if token := form.Get("actor_token"); token != "" {
		actor, err := p.Claims(token)
		if err != nil || actor["sub"] != client || form.Get("actor_token_type") != typeAccess {
			refuse(w, http.StatusBadRequest, "invalid_request", "actor_token is not valid")
			return
		}
		act := map[string]any{"sub": client}
		if before, ok := subject["act"]; ok {
			act["act"] = before
		}
		claims["act"] = act
	} else if form.Has("actor_token_type") { // RFC 8693 §2.1
		refuse(w, http.StatusBadRequest, "invalid_request", "actor_token_type without actor_token")
		return
	}
	p.answer(w, map[string]any{
		"access_token": p.Token(subject["sub"].(string), audience, claims), "issued_token_type": typeAccess, "token_type": "Bearer",
	})
}

func refuse(w http.ResponseWriter, status int, code, description string) {
	members := map[string]any{"error": code}
	if description != "" {
		members["error_description"] = description
	}
	reply(w, status, members)
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}
