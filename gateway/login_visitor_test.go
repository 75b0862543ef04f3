package gateway_test

import (
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/gateway/identity"
	"agent-stop-and-go/gateway/identity/identitytest"
	"agent-stop-and-go/gateway/identity/keys"
	"agent-stop-and-go/gateway/identity/session"
	"agent-stop-and-go/workflows/contract"
)

// logins is a gateway at which people log in with a browser. Its clock can be put forward.
type logins struct {
	*api
	provider *identitytest.Provider
	keyFile  string
	ahead    *atomic.Int64 // nanoseconds
}

func (l *logins) forward(d time.Duration) { l.ahead.Add(int64(d)) }

func newLogins(t *testing.T, change ...func(*gateway.Deps)) *logins {
	return newLoginsAt(t, &logins{
		provider: identitytest.NewProvider(t, identitytest.RSAKey(t, "1")), keyFile: filepath.Join(t.TempDir(), "keys.json"), ahead: &atomic.Int64{},
	}, change...)
}

// newLoginsAt is a further gateway with the provider and the keys of another.
func newLoginsAt(t *testing.T, of *logins, change ...func(*gateway.Deps)) *logins {
	l := &logins{provider: of.provider, keyFile: of.keyFile, ahead: of.ahead}
	now := func() time.Time { return time.Now().Add(time.Duration(l.ahead.Load())) }
	scopes := []string{contract.ScopeConverse, contract.ScopeRead, contract.ScopeApprove}
	l.api = newAPI(t, &fakeBackend{}, append([]func(*gateway.Deps){func(d *gateway.Deps) {
		way := identity.NewOIDC(identity.OIDCSettings{
			Issuer: l.provider.URL, Audience: "agent", SubjectClaim: "sub", GroupsClaim: "groups",
			Grants: identity.Grants{Scopes: scopes, Groups: map[string][]string{"ops": {contract.ScopeReadAll}}}, Now: now,
		})
		reader := keys.NewReader(l.keyFile, slog.New(slog.DiscardHandler))
		t.Cleanup(reader.Close)
		if of.api != nil {
			d.Keyring = of.keys
		}
		d.Sessions = session.New(session.Options{
			Jar: &session.Jar{Keyring: d.Keyring, PublicURL: d.PublicURL, Now: now}, Keys: identity.NewKeys(reader), KeyLasts: 12 * time.Hour, Now: now,
			Logins: []*session.Login{{Way: way, ClientID: identitytest.ClientID, ClientSecret: identitytest.ClientSecret, Lasts: 12 * time.Hour, Now: now}},
		})
		d.Backend, d.Callers, d.ProofInterval = tenancy{d.Backend.(*fakeBackend), &sync.Map{}}, identity.Ways{way, d.Sessions}, time.Millisecond
		d.Methods = []identity.Method{{Type: "keys", Login: true}, {Type: "oidc", Login: true, Issuer: l.provider.URL, Audience: "agent"}}
	}}, change...)...)
	if of.api != nil {
		l.keys = of.keys
	}
	return l
}

// visitor is a browser with its cookies.
type visitor struct {
	*logins
	cookies map[string]*http.Cookie
	token   string
}

func (l *logins) visitor() *visitor { return &visitor{logins: l, cookies: map[string]*http.Cookie{}} }

// at returns the same browser at another gateway of the agent.
func (b *visitor) at(l *logins) *visitor {
	return &visitor{logins: l, cookies: maps.Clone(b.cookies), token: b.token}
}

// header returns the header with the cookies.
func (b *visitor) header(fits func(*http.Cookie) bool) string {
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(b.cookies)) {
		if c := b.cookies[name]; fits(c) {
			texts = append(texts, c.Name+"="+c.Value)
		}
	}
	return "Cookie: " + strings.Join(texts, "; ")
}

func all(*http.Cookie) bool { return true }

// lax are the cookies that come with a link of another site.
func lax(c *http.Cookie) bool { return c.SameSite != http.SameSiteStrictMode }

// do sends a request of the page.
func (b *visitor) do(method, target, body string, headers ...string) reply {
	b.t.Helper()
	return b.keep(b.api.do(method, target, body, append(headers, b.header(all))...))
}

// keep takes the cookies of a reply.
func (b *visitor) keep(r reply) reply {
	for _, c := range (&http.Response{Header: r.header}).Cookies() {
		if c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		} else {
			b.cookies[c.Name] = c
		}
	}
	return r
}

// post sends a request with the token of the session.
func (b *visitor) post(target, body string, headers ...string) reply {
	b.t.Helper()
	return b.do("POST", target, body, append(headers, session.HeaderToken+": "+b.token)...)
}

// session reads the session and its token.
func (b *visitor) session() reply {
	b.t.Helper()
	r := b.want(200, b.do("GET", "/auth/session", ""))
	b.token = r.text("csrf_token")
	return r
}

// follow follows a link to the provider and returns the address that it sends the browser to.
func follow(t *testing.T, address string) *url.URL {
	t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r, err := client.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	location, err := r.Location()
	if err != nil {
		t.Fatalf("%s: %s", address, r.Status)
	}
	return location
}

// begin goes to the provider and returns the address that it sends the browser to.
func (b *visitor) begin() *url.URL {
	b.t.Helper()
	return follow(b.t, b.want(302, b.do("GET", "/auth/login?return=%23/c/"+someID, "")).header.Get("Location"))
}

// complete follows the provider's redirect: it comes from another site.
func (b *visitor) complete(callback *url.URL) reply {
	b.t.Helper()
	path := strings.TrimPrefix(callback.RequestURI(), "/shop") // as a proxy does
	w := httptest.NewRecorder()
	b.ServeHTTP(w, newRequest("GET", path, "", b.header(lax), "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"))
	return b.keep(reply{status: w.Code, header: w.Header(), raw: w.Body.String()})
}

func (b *visitor) login() *visitor {
	b.t.Helper()
	b.want(303, b.complete(b.begin()))
	b.session()
	return b
}

func (b *visitor) caller() string {
	b.t.Helper()
	r := b.do("GET", "/me", "")
	if r.status == 401 {
		return ""
	}
	return b.want(200, r).text("subject")
}
