package identitytest

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"net/http"
	"net/url"
	"sync"
	"testing"
)

// The clients of a provider.
const (
	ClientID, ClientSecret = "page", "page-secret"
	DeviceClientID         = "cli"
)

// logins are the logins of people at a provider. Whoever is there is logged in: nobody has to
// type anything.
type logins struct {
	provider *Provider
	t        testing.TB
	signer   Signer

	mu      sync.Mutex
	person  map[string]any   // changes to Claims
	codes   map[string]grant // by code, refresh token or device code
	refused string           // the error of all logins
	revoked []string
	silent  bool // gives no refresh tokens
}

// grant is what the holder of a code gets.
type grant struct {
	kind, client, redirect, challenge, nonce string
	approved                                 bool
	claims                                   map[string]any
}

// LogIn says who logs in from now on, by changes to Claims.
func (p *Provider) LogIn(person map[string]any) {
	p.logins.do(func(l *logins) { l.person = person })
}

// Refuse has all logins fail with an error, such as access_denied; "" ends that. Logins that were
// granted can be refreshed only while nothing is refused.
func (p *Provider) Refuse(failure string) { p.logins.do(func(l *logins) { l.refused = failure }) }

// KeepRefreshTokens has logins get no refresh token.
func (p *Provider) KeepRefreshTokens() { p.logins.do(func(l *logins) { l.silent = true }) }

// ApproveDevices has a person approve all devices that wait.
func (p *Provider) ApproveDevices() {
	p.logins.do(func(l *logins) {
		for code, g := range l.codes {
			g.approved, g.claims = true, l.claims("")
			l.codes[code] = g
		}
	})
}

// Revoked returns the tokens that were revoked.
func (p *Provider) Revoked() (tokens []string) {
	p.logins.do(func(l *logins) { tokens = append(tokens, l.revoked...) })
	return tokens
}

func (p *Provider) endpoints() map[string]any {
	return map[string]any{
		"authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token", "device_authorization_endpoint": p.URL + "/device",
		"revocation_endpoint": p.URL + "/revoke", "end_session_endpoint": p.URL + "/logout",
		"scopes_supported": []string{"openid", "offline_access", "groups"}, "authorization_response_iss_parameter_supported": true,
	}
}

func (l *logins) do(f func(*logins)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f(l)
}

func (l *logins) register(mux *http.ServeMux) {
	mux.HandleFunc("GET /authorize", l.authorize)
	mux.HandleFunc("POST /token", l.token)
	mux.HandleFunc("POST /device", l.device)
	mux.HandleFunc("POST /revoke", func(_ http.ResponseWriter, r *http.Request) {
		l.do(func(l *logins) {
			l.revoked = append(l.revoked, r.FormValue("token"))
			delete(l.codes, r.FormValue("token"))
		})
	})
}

func (l *logins) claims(nonce string) map[string]any {
	changes := map[string]any{}
	maps.Copy(changes, l.person)
	if nonce != "" {
		changes["nonce"] = nonce
	}
	return l.provider.Claims(changes)
}

func (l *logins) authorize(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := r.URL.Query()
	if q.Get("client_id") != ClientID || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || q.Get("nonce") == "" {
		http.Error(w, "no login with code, PKCE and nonce", http.StatusBadRequest)
		return
	}
	answer := url.Values{"state": {q.Get("state")}, "iss": {l.provider.URL}}
	if l.refused != "" {
		answer.Set("error", l.refused)
	} else {
		code := rand.Text()
		l.codes[code] = grant{"code", ClientID, q.Get("redirect_uri"), q.Get("code_challenge"), q.Get("nonce"), true, l.claims(q.Get("nonce"))}
		answer.Set("code", code)
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+answer.Encode(), http.StatusFound)
}

func (l *logins) device(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.FormValue("client_id") != DeviceClientID {
		l.fail(w, "invalid_client")
		return
	}
	code := rand.Text()
	l.codes[code] = grant{kind: "device", client: DeviceClientID}
	l.provider.reply(w, map[string]any{
		"device_code": code, "user_code": "WDJB-MJHT", "verification_uri": l.provider.URL + "/verify", "expires_in": 600, "interval": 1,
	})
}

func (l *logins) fail(w http.ResponseWriter, failure string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	_, _ = w.Write([]byte(`{"error":"` + failure + `"}`)) // the client may be gone
}

// token gives tokens for a code, once.
func (l *logins) token(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.provider.Away.Load() {
		l.provider.reply(w, nil)
		return
	}
	kinds := map[string][2]string{
		"authorization_code": {"code", r.FormValue("code")}, "refresh_token": {"refresh", r.FormValue("refresh_token")},
		"urn:ietf:params:oauth:grant-type:device_code": {"device", r.FormValue("device_code")},
	}
	kind := kinds[r.FormValue("grant_type")]
	g, ok := l.codes[kind[1]]
	client, secret, basic := r.BasicAuth()
	if !basic {
		client, secret = r.FormValue("client_id"), r.FormValue("client_secret")
	}
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	switch {
	case client == ClientID && secret != ClientSecret:
		l.fail(w, "invalid_client")
		return
	case l.refused != "":
		l.fail(w, l.refused)
		return
	case !ok || g.kind != kind[0] || g.client != client,
		g.kind == "code" && (g.redirect != r.FormValue("redirect_uri") || g.challenge != base64.RawURLEncoding.EncodeToString(sum[:])):
		l.fail(w, "invalid_grant")
		return
	case !g.approved:
		l.fail(w, "authorization_pending")
		return
	}
	delete(l.codes, kind[1])
	l.provider.reply(w, l.tokens(g))
}

// tokens are the tokens of a grant.
func (l *logins) tokens(g grant) map[string]any {
	if g.kind == "refresh" {
		g.claims = l.claims("")
	}
	out := map[string]any{"access_token": l.signer.Token(l.t, g.claims), "token_type": "Bearer", "expires_in": 3600}
	id := maps.Clone(g.claims)
	id["aud"] = g.client
	out["id_token"] = l.signer.Token(l.t, id)
	if !l.silent {
		refresh := rand.Text()
		l.codes[refresh] = grant{kind: "refresh", client: g.client, approved: true}
		out["refresh_token"] = refresh
	}
	return out
}
