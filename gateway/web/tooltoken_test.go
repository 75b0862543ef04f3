package web_test

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"agent-stop-and-go/gateway/identity"
	"agent-stop-and-go/gateway/identity/cookie"
	"agent-stop-and-go/gateway/web"
	"agent-stop-and-go/gateway/web/tooltoken"
	"agent-stop-and-go/workflows/credential"
)

// server is an authorization server at which everybody is logged in.
type server struct {
	*httptest.Server
	mu         sync.Mutex
	challenges map[string]string // by code
	refresh    map[string]bool
	revoked    []string
	given      int
	lasts      int // seconds; 0: the server does not say
	failure    int // the status of all tokens
	query      url.Values
}

func newServer(t *testing.T) *server {
	s := &server{challenges: map[string]string{}, refresh: map[string]bool{}, lasts: 3600}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q,"authorization_endpoint":%q,"token_endpoint":%q,"revocation_endpoint":%q,"authorization_response_iss_parameter_supported":true}`,
			s.URL, s.URL+"/keys", s.URL+"/authorize", s.URL+"/token", s.URL+"/revoke")
	})
	mux.HandleFunc("GET /authorize", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.query = r.URL.Query()
		code := rand.Text()
		s.challenges[code] = s.query.Get("code_challenge")
		http.Redirect(w, r, s.query.Get("redirect_uri")+"?"+url.Values{"code": {code}, "state": {s.query.Get("state")}, "iss": {s.URL}}.Encode(), http.StatusFound)
	})
	mux.HandleFunc("POST /token", s.token)
	mux.HandleFunc("POST /revoke", func(_ http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.revoked = append(s.revoked, r.FormValue("token"))
	})
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func (s *server) token(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	code, refresh := r.FormValue("code"), r.FormValue("refresh_token")
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	byCode := code != "" && s.challenges[code] == base64.RawURLEncoding.EncodeToString(sum[:])
	id, secret, basic := r.BasicAuth()
	if !basic {
		id, secret = r.FormValue("client_id"), r.FormValue("client_secret")
	}
	switch {
	case s.failure != 0:
		w.WriteHeader(s.failure)
	case id != "chat" || secret != "secret":
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"error":"invalid_client"}`)
	case !byCode && !s.refresh[refresh]:
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"error":"invalid_grant","error_description":"s3cret"}`)
	default:
		delete(s.challenges, code)
		delete(s.refresh, refresh) // once
		s.given++
		next := fmt.Sprintf("refresh-%d", s.given)
		s.refresh[next] = true
		_ = json.NewEncoder(w).Encode(map[string]any{"access_token": fmt.Sprintf("access-%d", s.given), "token_type": "Bearer", "expires_in": s.lasts, "refresh_token": next})
	}
}

func (s *server) do(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// browser keeps cookies, and does not follow redirects.
type browser struct {
	t       *testing.T
	at      string
	cookies map[string]*http.Cookie
	proof   string
}

func (b *browser) do(method, address string, headers ...string) answer {
	b.t.Helper()
	if strings.HasPrefix(address, "/") {
		address = b.at + address
	}
	var pairs []string
	for _, c := range b.cookies {
		pairs = append(pairs, c.Name+"="+c.Value)
	}
	if len(pairs) > 0 {
		headers = append(headers, "Cookie: "+strings.Join(pairs, "; "))
	}
	r := send(b.t, method, address, "", headers...)
	for _, c := range r.Cookies() {
		if b.cookies[c.Name] = c; c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		}
	}
	return r
}

// say is a request that sends something, as the page makes it.
func (b *browser) say() answer { return b.do("POST", "/conversations", "X-Tool-Session: "+b.proof) }

// state reads the session.
func (b *browser) state() map[string]any {
	var out map[string]any
	r := b.do("GET", "/api/session")
	if err := json.Unmarshal([]byte(r.text), &out); err != nil || r.Header.Get("Cache-Control") != "no-store" {
		b.t.Fatalf("%s: %v", r.text, err)
	}
	b.proof, _ = out["csrf_token"].(string)
	return out
}

// begin goes to the server and returns where it sends the browser back to.
func (b *browser) begin() string {
	b.t.Helper()
	there := b.do("GET", "/login?return="+url.QueryEscape("#/c/1"))
	back := send(b.t, "GET", there.Header.Get("Location"), "")
	return back.Header.Get("Location")
}

func (b *browser) login() *browser {
	b.t.Helper()
	if r := b.do("GET", b.begin()); r.StatusCode != 303 || r.Header.Get("Location") != b.at+"/#/c/1" {
		b.t.Fatalf("%d to %s: %s", r.StatusCode, r.Header.Get("Location"), r.text)
	}
	b.state()
	return b
}

// deployment is two web processes with the same keys in front of an agent.
type deployment struct {
	far    *far
	server *server
	first  *httptest.Server
	other  *httptest.Server
	mu     sync.Mutex
	ahead  time.Duration
}

func (d *deployment) now() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return time.Now().Add(d.ahead)
}

func (d *deployment) forward(by time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ahead += by
}

func deploy(t *testing.T, change ...func(*tooltoken.Client)) *deployment {
	d := &deployment{far: newFar(t), server: newServer(t)}
	key, err := credential.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	ring, err := credential.NewKeyring(key)
	if err != nil {
		t.Fatal(err)
	}
	client := &tooltoken.Client{ID: "chat", Secret: "secret", Scopes: []string{"openid", "mail"}, Issuer: identity.NewOIDC(identity.OIDCSettings{Issuer: d.server.URL})}
	for _, c := range change {
		c(client)
	}
	jar := &cookie.Jar{Keyring: ring, Now: d.now}
	with := func(o *web.Options) {
		o.Tools = &tooltoken.Login{Client: client, Jar: jar, Callback: "/callback", Logger: o.Logger}
		o.ToolServer, o.Base = "login.example.com", jar.PublicURL
	}
	d.first = near(t, d.far, func(o *web.Options) { o.Logger = slog.New(slog.DiscardHandler) }, with)
	jar.PublicURL, client.RedirectURL = d.first.URL, d.first.URL+"/callback"
	d.other = near(t, d.far, with)
	return d
}

func (d *deployment) browser(t *testing.T) *browser {
	return &browser{t: t, at: d.first.URL, cookies: map[string]*http.Cookie{}}
}

// sent returns the headers of the token that the agent got last.
func (d *deployment) sent() string {
	r, _ := d.far.got()
	return r.Header.Get("Authorization") + "|" + r.Header.Get("X-Tool-Authorization")
}

func TestATokenForToolsGoesToTheAgent(t *testing.T) {
	d := deploy(t)
	b := d.browser(t)
	if s := b.state(); s["authenticated"] != false || b.proof != "" {
		t.Errorf("before the login: %v", s)
	}
	b.login()
	if q := d.server.query; q.Get("code_challenge_method") != "S256" || q.Get("scope") != "openid mail" || len(q.Get("state")) < 20 || q.Get("access_type") != "offline" {
		t.Errorf("the login is asked for with %v", q)
	}
	for name, c := range b.cookies {
		if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || strings.Contains(c.Value, "access-") || !regexp.MustCompile(`^web_tools_\d+$`).MatchString(name) {
			t.Errorf("cookie %v", c)
		}
	}
	b.cookies["agent_session_8080"] = &http.Cookie{Name: "agent_session_8080", Value: "s"}
	if b.say(); d.sent() != "Bearer access-1|" {
		t.Errorf("the agent got %s", d.sent())
	}
	if r, _ := d.far.got(); r.Header.Get("Cookie") != "agent_session_8080=s" || r.Header.Get("X-Tool-Session") != "" {
		t.Errorf("the agent got %v", r.Header)
	}
	b.at = d.other.URL
	if b.say(); d.sent() != "Bearer access-1|" {
		t.Errorf("through another process the agent got %s", d.sent())
	}
	b.at = d.first.URL
	if home := b.do("GET", "/", "Accept: text/html"); !strings.Contains(home.text, `<meta name="tool-login" content="login.example.com">`) {
		t.Error("the page does not know of the login")
	}
}

func TestATokenForToolsOfAnAgentThatAsksWhoCalls(t *testing.T) {
	d := deploy(t)
	d.far.closed.Store(true)
	b := d.browser(t).login()
	if b.say(); d.sent() != "|Bearer access-1" {
		t.Errorf("the agent got %s", d.sent())
	}
	b.do("POST", "/conversations", "Authorization: Bearer own", "X-Tool-Session: "+b.proof)
	if d.sent() != "Bearer own|" {
		t.Errorf("beside a token of the caller the agent got %s", d.sent())
	}
}

// An agent that begins to ask who calls gets no foreign token as a proof for longer than one request.
func TestAnAgentThatAsksWhoCallsSinceAMomentAgo(t *testing.T) {
	d := deploy(t)
	b := d.browser(t).login()
	b.say()
	d.far.closed.Store(true)
	d.far.mu.Lock()
	d.far.serve = func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}
	d.far.mu.Unlock()
	if r := b.say(); r.StatusCode != 401 {
		t.Errorf("%d", r.StatusCode)
	}
	if r := b.say(); r.StatusCode != 200 || d.sent() != "|Bearer access-1" {
		t.Errorf("%d, the agent got %s", r.StatusCode, d.sent())
	}
}

func TestRequestsWithoutTheProofHaveNoToken(t *testing.T) {
	d := deploy(t)
	b := d.browser(t).login()
	for _, headers := range [][]string{nil, {"X-Tool-Session: guessed"}, {"X-Tool-Session: "}} {
		if b.do("POST", "/conversations", headers...); d.sent() != "|" {
			t.Errorf("%v: the agent got %s", headers, d.sent())
		}
	}
	for _, path := range []string{"/logout", "/login/renewal"} {
		if r := b.do("POST", path, "X-Tool-Session: guessed"); r.StatusCode != 403 {
			t.Errorf("%s: %d %s", path, r.StatusCode, r.text)
		}
		if r := d.browser(t).do("POST", path); r.StatusCode != 401 {
			t.Errorf("%s without a session: %d %s", path, r.StatusCode, r.text)
		}
	}
	if b.say(); d.sent() != "Bearer access-1|" {
		t.Errorf("the session is gone: %s", d.sent())
	}
}

func TestATokenIsRenewed(t *testing.T) {
	d := deploy(t)
	b := d.browser(t).login()
	if s := b.state(); s["fresh_for"].(float64) < 3000 || s["renewable"] != true {
		t.Errorf("%v", s)
	}
	d.forward(time.Hour)
	if s := b.state(); s["authenticated"] != false || s["renewable"] != true || s["fresh_for"] != nil {
		t.Errorf("after its end: %v", s)
	}
	if b.say(); d.sent() != "|" {
		t.Errorf("a token that has ended goes to the agent: %s", d.sent())
	}
	d.server.do(func() { d.server.failure = 503 })
	if r := b.do("POST", "/login/renewal", "X-Tool-Session: "+b.proof); r.StatusCode != 503 || !strings.Contains(r.text, "cannot be reached") {
		t.Errorf("%d %s", r.StatusCode, r.text)
	}
	d.server.do(func() { d.server.failure = 0 })
	b.at = d.other.URL
	if r := b.do("POST", "/login/renewal", "X-Tool-Session: "+b.proof); r.StatusCode != 200 || !strings.Contains(r.text, `"authenticated":true`) {
		t.Errorf("%d %s", r.StatusCode, r.text)
	}
	b.at = d.first.URL
	if b.say(); d.sent() != "Bearer access-2|" {
		t.Errorf("the agent got %s", d.sent())
	}
	d.server.do(func() { clear(d.server.refresh) }) // the server has ended it
	r := b.do("POST", "/login/renewal", "X-Tool-Session: "+b.proof)
	if r.StatusCode != 401 || !strings.Contains(r.text, "log in again") || strings.Contains(r.text, "s3cret") || len(b.cookies) != 0 {
		t.Errorf("%d %s, %v", r.StatusCode, r.text, b.cookies)
	}
}

func TestLoggingOutOfTheTools(t *testing.T) {
	d := deploy(t)
	b := d.browser(t).login()
	b.cookies["agent_session_8080"] = &http.Cookie{Name: "agent_session_8080", Value: "s"}
	if r := b.do("POST", "/logout", "X-Tool-Session: "+b.proof); r.StatusCode != 200 {
		t.Errorf("%d %s", r.StatusCode, r.text)
	}
	if len(b.cookies) != 1 || b.cookies["agent_session_8080"] == nil {
		t.Errorf("cookies %v", b.cookies)
	}
	if got := strings.Join(d.server.revoked, " "); got != "refresh-1 access-1" {
		t.Errorf("revoked: %s", got)
	}
}

func TestLoginsThatFail(t *testing.T) {
	d := deploy(t)
	fails := func(why string, b *browser, address string, status int, want string) {
		t.Helper()
		r := b.do("GET", address)
		if r.StatusCode != status || !strings.Contains(r.text, want) || !strings.HasPrefix(r.Header.Get("Content-Type"), "text/html") || strings.Contains(r.text, "s3cret") || len(b.cookies) > 0 {
			t.Errorf("%s: %d %s %v", why, r.StatusCode, r.text, b.cookies)
		}
	}
	changed := func(address, name, value string) string {
		u, _ := url.Parse(address)
		q := u.Query()
		q.Set(name, value)
		u.RawQuery = q.Encode()
		return u.String()
	}
	fails("nothing was begun", d.browser(t), d.browser(t).begin(), 403, "has begun no login")
	for why, c := range map[string][3]string{
		"another state":   {"state", "guessed", "the answer to another login"},
		"another issuer":  {"iss", "https://evil.example.com", "another server has answered"},
		"a wrong code":    {"code", "guessed", "invalid_grant"},
		"no code":         {"code", "", "has sent no code"},
		"a person's no":   {"error", "access_denied", "the login server says: access_denied"},
		"a script in it":  {"error", "<script>alert(1)</script>", "&lt;script&gt;"},
		"control letters": {"error", "a\x00\u202eb", "says: ab"},
	} {
		b := d.browser(t)
		fails(why, b, changed(b.begin(), c[0], c[1]), 403, c[2])
	}
	b := d.browser(t)
	callback := b.begin()
	d.forward(11 * time.Minute)
	fails("it took too long", b, callback, 403, "took too long")
	b = d.browser(t)
	callback = b.begin()
	d.server.do(func() { d.server.failure = 500 })
	fails("the server fails", b, callback, 503, "cannot be reached")
	if r := d.browser(t).do("GET", "/login?return=https://evil.example.com"); r.StatusCode != 400 {
		t.Errorf("another place: %d", r.StatusCode)
	}
	d = deploy(t, func(c *tooltoken.Client) { c.Secret = "wrong" })
	b = d.browser(t)
	fails("a wrong secret", b, b.begin(), 503, "client_id or client_secret is wrong")
	d.server.Close()
	d = deploy(t, func(c *tooltoken.Client) {
		c.Issuer = identity.NewOIDC(identity.OIDCSettings{Issuer: d.server.URL})
	})
	fails("no server", d.browser(t), "/login", 503, "cannot be reached")
}

func TestEndpointsOfTheFile(t *testing.T) {
	d := deploy(t, func(c *tooltoken.Client) { c.Issuer = nil })
	if r := d.browser(t).do("GET", "/login"); r.StatusCode != 503 || !strings.Contains(r.text, "offers no logins") {
		t.Errorf("%d %s", r.StatusCode, r.text)
	}
	var fixed *tooltoken.Client
	d = deploy(t, func(c *tooltoken.Client) { c.Issuer, fixed = nil, c })
	fixed.Fixed = identity.Endpoints{Authorization: d.server.URL + "/authorize?tenant=1", Token: d.server.URL + "/token"}
	d.server.lasts = 0
	b := d.browser(t).login()
	if d.server.query.Get("tenant") != "1" {
		t.Errorf("the login is asked for with %v", d.server.query)
	}
	d.forward(24 * time.Hour) // the server has not said when the token ends
	if b.say(); d.sent() != "Bearer access-1|" {
		t.Errorf("the agent got %s", d.sent())
	}
	b.do("POST", "/logout", "X-Tool-Session: "+b.proof)
	if len(b.cookies) > 0 || len(d.server.revoked) > 0 {
		t.Errorf("%v, revoked %v", b.cookies, d.server.revoked)
	}
}
