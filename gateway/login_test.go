package gateway_test

import (
	"bytes"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/gateway/identity/identitytest"
	"agent-stop-and-go/gateway/identity/keys"
	"agent-stop-and-go/gateway/identity/session"
	"agent-stop-and-go/workflows/contract"
)

func TestALoginAtTheProvider(t *testing.T) {
	l := newLogins(t)
	b := l.visitor()
	b.wantError(401, "a login with a browser", b.do("GET", "/me", ""))
	callback := b.begin()
	if got := callback.Host + callback.Path; got != "localhost:8080/auth/callback" {
		t.Errorf("the provider sends the browser to %s", got)
	}
	r := b.want(303, b.complete(callback))
	if got := r.header.Get("Location"); got != "http://localhost:8080/#/c/"+someID {
		t.Errorf("the page is %s", got)
	}
	if len(b.cookies) != 1 {
		t.Fatalf("cookies %v", b.cookies)
	}
	c := b.cookies["agent_session_8080"]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Domain != "" || c.Secure || c.MaxAge < 3600 {
		t.Errorf("the cookie is %v", c)
	}
	s := b.session()
	if s.at("active") != true || s.at("renewable") != true || s.header.Get("Cache-Control") != "no-store" {
		t.Errorf("the session is %s", s.raw)
	}
	me := b.want(200, b.do("GET", "/me", ""))
	if me.text("subject") != "alice" || me.text("issuer") != l.provider.URL || !strings.Contains(me.raw, `"read:all"`) || !strings.Contains(me.raw, `"ops"`) {
		t.Errorf("the caller is %s", me.raw)
	}
	b.want(201, b.post("/conversations", `{}`))
	if log := l.logs.String(); strings.Contains(log, callback.Query().Get("code")) || strings.Contains(log, b.token) {
		t.Errorf("the log has a secret: %s", log)
	}
}

func TestASessionOverHTTPS(t *testing.T) {
	l := newLogins(t, func(d *gateway.Deps) {
		d.PublicURL, d.AllowedHosts = "https://agents.example.com/shop", []string{"agents.example.com"}
		d.Sessions.Jar.PublicURL = d.PublicURL
	})
	b := l.visitor()
	b.want(303, b.complete(b.begin()))
	c := b.cookies["__Host-agent_session_shop"]
	if c == nil || !c.Secure || c.Path != "/" || c.Domain != "" {
		t.Fatalf("cookies %v", b.cookies)
	}
	if b.caller() != "alice" {
		t.Error("nobody is logged in")
	}
	delete(b.cookies, c.Name)
	b.cookies["agent_session_shop"] = &http.Cookie{Name: "agent_session_shop", Value: c.Value} // a page of http can set this one
	if b.caller() != "" {
		t.Error("a cookie without its prefix counts")
	}
}

// Whatever changes something needs the token of the session, which no other origin can read.
func TestRequestsWithoutTheTokenOfTheSession(t *testing.T) {
	l := newLogins(t)
	b, other := l.visitor().login(), l.visitor().login()
	for name, headers := range map[string][]string{
		"none": nil, "empty": {"X-CSRF-Token: "}, "of another session": {"X-CSRF-Token: " + other.token}, "in another header": {"X-XSRF-Token: " + b.token},
		"as a parameter": {"Referer: http://localhost:8080/?csrf_token=" + b.token},
	} {
		for _, path := range []string{"/conversations", "/approvals/" + ofAlice.uuid, "/ag-ui", "/a2a"} {
			if r := b.do("POST", path, `{}`, headers...); r.status != 403 || !strings.Contains(r.raw, "X-CSRF-Token") {
				t.Errorf("%s, token %s: %d %s", path, name, r.status, r.raw)
			}
		}
		for _, path := range []string{"/auth/logout", "/auth/session/renewal"} {
			b.wantError(403, "X-CSRF-Token", b.do("POST", path, "", headers...))
		}
	}
	b.want(201, b.post("/conversations", `{}`))
	// A request with another proof is judged by that alone.
	b.wantError(401, "", b.do("POST", "/conversations", `{}`, "Authorization: Bearer x", "X-CSRF-Token: "+b.token))
	// A page of another site can follow a link, but not send this.
	b.wantError(403, "another site", b.post("/conversations", `{}`, "Sec-Fetch-Site: cross-site"))
	b.wantError(403, "another site", b.do("GET", "/auth/session", "", "Sec-Fetch-Site: cross-site"))
}

func TestASessionIsRenewed(t *testing.T) {
	l := newLogins(t)
	b := l.visitor().login()
	elsewhere := newLoginsAt(t, l)
	if b.at(elsewhere).caller() != "alice" {
		t.Error("another gateway does not know the session")
	}
	l.forward(11 * time.Minute)
	b.wantError(401, "must be renewed", b.do("GET", "/me", ""))
	if s := b.session(); s.at("active") != false || s.at("renewable") != true {
		t.Errorf("the session is %s", s.raw)
	}
	l.provider.LogIn(map[string]any{"groups": nil})
	b.want(200, b.post("/auth/session/renewal", ""))
	if me := b.want(200, b.do("GET", "/me", "")); strings.Contains(me.raw, "read:all") {
		t.Errorf("a group that was taken away counts: %s", me.raw)
	}
	b = b.at(elsewhere)
	l.forward(11 * time.Minute)
	b.want(200, b.post("/auth/session/renewal", ""))
	l.forward(11 * time.Minute)
	l.provider.Away.Store(true)
	b.wantError(503, "cannot be reached", b.post("/auth/session/renewal", ""))
	l.provider.Away.Store(false)
	l.provider.LogIn(map[string]any{"sub": "mallory"})
	b.wantError(403, "", b.post("/auth/session/renewal", ""))
	if len(b.cookies) != 0 {
		t.Errorf("the cookie of a session that has ended is kept: %v", b.cookies)
	}
}

func TestASessionEnds(t *testing.T) {
	for name, end := range map[string]func(*logins){
		"after its time":               func(l *logins) { l.forward(12 * time.Hour) },
		"because the provider ends it": func(l *logins) { l.forward(11 * time.Minute); l.provider.Refuse("invalid_grant") },
	} {
		l := newLogins(t)
		b := l.visitor().login()
		end(l)
		b.wantError(401, "", b.do("GET", "/me", ""))
		if r := b.post("/auth/session/renewal", ""); r.status != 403 {
			t.Errorf("%s: %d %s", name, r.status, r.raw)
		}
		l.provider.Refuse("")
		l.ahead.Store(0)
		if b.login().caller() != "alice" {
			t.Errorf("%s: nobody can log in again", name)
		}
	}
}

// A provider that gives no refresh token cannot be asked, so the session ends with the ID token.
func TestASessionWithoutARefreshToken(t *testing.T) {
	l := newLogins(t)
	l.provider.KeepRefreshTokens()
	b := l.visitor().login()
	l.forward(59 * time.Minute)
	if s := b.session(); s.at("active") != true || s.at("renewable") != false {
		t.Errorf("the session is %s", s.raw)
	}
	l.forward(2 * time.Minute)
	if s := b.session(); s.at("active") != false || s.text("csrf_token") != "" {
		t.Errorf("the session is %s", s.raw)
	}
}

func TestLoggingOut(t *testing.T) {
	l := newLogins(t)
	elsewhere := newLoginsAt(t, l)
	b := l.visitor().login()
	copied := b.at(l)
	r := b.want(200, b.post("/auth/logout", ""))
	location, err := url.Parse(r.text("location"))
	if err != nil || !strings.HasPrefix(location.String(), l.provider.URL+"/logout?") || location.Query().Get("post_logout_redirect_uri") != "http://localhost:8080/" ||
		location.Query().Get("client_id") != identitytest.ClientID || strings.Count(location.Query().Get("id_token_hint"), ".") != 2 {
		t.Errorf("the provider's logout is %s", r.raw)
	}
	if len(b.cookies) != 0 || b.caller() != "" || len(l.provider.Revoked()) != 1 {
		t.Errorf("after logging out: %v, revoked %v", b.cookies, l.provider.Revoked())
	}
	if copied.caller() != "" {
		t.Error("a copy of the cookie goes on")
	}
	b.wantError(403, "", copied.post("/auth/session/renewal", ""))
	l.forward(11 * time.Minute)
	if r := copied.at(elsewhere).post("/auth/session/renewal", ""); r.status != 403 {
		t.Errorf("a copy of the cookie is renewed elsewhere: %s", r.raw)
	}
}

func TestAStreamEndsWithTheSession(t *testing.T) {
	s := longTurn()
	owned := &ownedScript{fakeBackend: s.backend()}
	l := newLogins(t, func(d *gateway.Deps) { d.Backend = owned })
	b := l.visitor().login()
	owned.owner = contract.Identity{Subject: "alice", Issuer: l.provider.URL}.Key()
	stream := l.open("GET", eventsPath, "", b.header(all))
	defer stream.leave()
	for len(stream.raw()) == 0 {
		runtime.Gosched()
	}
	b.want(200, b.post("/auth/logout", ""))
	select {
	case <-stream.done:
	case <-time.After(10 * time.Second):
		t.Error("the stream goes on")
	}
}

func TestLoginsThatFail(t *testing.T) {
	l := newLogins(t)
	refused := func(name string, b *visitor, callback *url.URL, status int, text string) {
		t.Helper()
		r := b.complete(callback)
		if r.status != status || !strings.Contains(r.raw, text) || !strings.Contains(r.header.Get("Content-Security-Policy"), "frame-ancestors 'none'") || len(b.cookies) != 0 {
			t.Errorf("%s: %d %s, cookies %v", name, r.status, r.raw, b.cookies)
		}
	}
	with := func(u *url.URL, key, value string) *url.URL {
		changed := *u
		q := u.Query()
		q.Set(key, value)
		if value == "" {
			q.Del(key)
		}
		changed.RawQuery = q.Encode()
		return &changed
	}
	b := l.visitor()
	callback := b.begin()
	refused("a login of another browser", l.visitor(), callback, 403, "has begun no login")
	refused("another state", b, with(callback, "state", "x"), 403, "another login")
	refused("the same once more", b, callback, 403, "has begun no login")
	for key, text := range map[string]string{"state": "another login", "code": "invalid_grant", "iss": "another provider"} {
		b = l.visitor()
		refused("no "+key, b, with(b.begin(), key, ""), 403, text)
	}
	b = l.visitor()
	refused("another provider", b, with(b.begin(), "iss", "https://login.example.com"), 403, "another provider")
	b = l.visitor()
	refused("an error", b, with(b.begin(), "error", "<b>access_denied"), 403, "&lt;b&gt;access_denied")
	b, other := l.visitor(), l.visitor()
	mixed := with(b.begin(), "code", other.begin().Query().Get("code"))
	refused("the code of another login", b, mixed, 403, "invalid_grant") // PKCE
	b = l.visitor()
	callback = b.begin()
	l.forward(11 * time.Minute)
	refused("too late", b, callback, 403, "has begun no login")
	l.forward(-11 * time.Minute)
	b = l.visitor()
	callback = b.begin()
	l.provider.Away.Store(true)
	refused("no provider", b, callback, 503, "cannot be reached")
	l.provider.Away.Store(false)
	b.wantError(400, "return", b.do("GET", "/auth/login?return=https://evil.example", ""))
	b.wantError(404, "/auth/methods", b.do("GET", "/auth/login?issuer=https://evil.example", ""))
}

// A session with a key is a cookie only, and ends with the key.
func TestALoginWithAKey(t *testing.T) {
	l := newLogins(t)
	key, err := keys.Add(l.keyFile, "bob", []string{"converse", "read"}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	b := l.visitor()
	b.wantError(403, "not known", b.do("POST", "/auth/session", `{"key":"asg_x"}`))
	b.wantError(415, "", b.do("POST", "/auth/session", `{"key":"`+key+`"}`, "Content-Type: text/plain"))
	b.want(200, b.do("POST", "/auth/session", `{"key":"`+key+`"}`))
	if s := b.session(); s.at("active") != true || s.at("renewable") != false {
		t.Errorf("the session is %s", s.raw)
	}
	if b.caller() != "bob" || b.post("/conversations", `{}`).status != 201 {
		t.Error("bob is not logged in")
	}
	b.wantError(403, "cannot be renewed", b.post("/auth/session/renewal", ""))
	sealed := b.cookies["agent_session_8080"].Value
	if bytes.Contains([]byte(sealed+l.logs.String()), []byte(key[20:])) {
		t.Error("the key is in the cookie or the log")
	}
	if err := keys.Revoke(l.keyFile, "bob"); err != nil {
		t.Fatal(err)
	}
	for start := time.Now(); b.caller() != ""; runtime.Gosched() {
		if time.Since(start) > 10*time.Second {
			t.Fatal("the session outlives its key")
		}
	}
	if r := b.want(200, b.post("/auth/logout", "")); r.text("location") != "" {
		t.Errorf("got %s", r.raw)
	}
}

// A person with very many groups has a session all the same.
func TestALargeSession(t *testing.T) {
	l := newLogins(t)
	var groups []string
	for i := range 60 {
		groups = append(groups, strings.Repeat(string(rune('a'+i%26)), 90)+string(rune('0'+i/26)))
	}
	l.provider.LogIn(map[string]any{"groups": append(groups, "ops")})
	b := l.visitor().login()
	if len(b.cookies) < 2 {
		t.Errorf("%d cookies", len(b.cookies))
	}
	for _, c := range b.cookies {
		if len(c.String()) > 4096 {
			t.Errorf("a cookie has %d bytes", len(c.String()))
		}
	}
	if b.caller() != "alice" {
		t.Error("alice is not logged in")
	}
	l.provider.LogIn(map[string]any{"groups": nil})
	b.want(200, b.post("/auth/session/renewal", ""))
	if b.caller() != "alice" {
		t.Error("alice is not logged in with a smaller session")
	}
	b.want(200, b.post("/auth/logout", ""))
	if len(b.cookies) != 0 {
		t.Errorf("left after logging out: %v", b.cookies)
	}
}

// A cookie that was changed, is of another kind, or of other keys, proves nothing.
func TestCookiesThatProveNothing(t *testing.T) {
	l := newLogins(t)
	b := l.visitor().login()
	sealed := b.cookies["agent_session_8080"].Value
	l.visitor().begin()
	attempt := l.visitor()
	attempt.begin()
	for name, value := range map[string]string{
		"changed": sealed[:40] + string(sealed[40]^1) + sealed[41:], "cut": sealed[:len(sealed)-9], "rubbish": "x", "a login that has begun": attempt.cookies["agent_login_8080"].Value,
		"other keys": newLogins(t).visitor().login().cookies["agent_session_8080"].Value,
	} {
		b.cookies["agent_session_8080"] = &http.Cookie{Name: "agent_session_8080", Value: value}
		b.wantError(401, "", b.do("GET", "/me", ""))
		if s := b.want(200, b.do("GET", "/auth/session", "")); s.at("active") != false || s.text("csrf_token") != "" {
			t.Errorf("%s: %s", name, s.raw)
		}
	}
}

func TestAnAgentWithoutLogins(t *testing.T) {
	a := newAPI(t, &fakeBackend{})
	if r := a.want(200, a.do("GET", "/auth/methods", "")); strings.TrimSpace(r.raw) != `{"methods":[]}` {
		t.Errorf("the ways are %s", r.raw)
	}
	a.want(200, a.do("GET", "/auth/session", ""))
	for _, path := range []string{"/auth/session", "/auth/logout", "/auth/session/renewal"} {
		a.wantError(404, "nobody can log in", a.do("POST", path, `{"key":"x"}`))
	}
	a.wantError(404, "nobody can log in", a.do("GET", "/auth/login", ""))
	a.wantError(404, "nobody can log in", a.do("GET", "/auth/callback", ""))
}

// What a session may do is what its caller may do, and nothing without the token if it changes
// something.
func TestEveryRouteForASession(t *testing.T) {
	t.Parallel()
	l := newLogins(t)
	l.provider.LogIn(map[string]any{"groups": nil})
	b := l.visitor().login()
	alice := contract.Identity{Subject: "alice", Issuer: l.provider.URL, Scopes: []string{"converse", "read", "approve"}}
	for _, r := range requests(l.Routes()) {
		for _, x := range []tenant{ofAlice, ofBob, ofNone} {
			l.Backend.(tenancy).started.Clear()
			of, want := r.of(x), verdict(r, alice, x)
			if got := b.do(r.method, of.path, of.body, session.HeaderToken+": "+b.token); got.refusal() != want {
				t.Errorf("%s, conversation of %q: %d %s, want %d", r.name, x.owner.Subject, got.status, got.raw, want)
			}
			if got := b.do(r.method, of.path, of.body); r.method == "POST" && got.status != 403 {
				t.Errorf("%s without the token: %d %s", r.name, got.status, got.raw)
			}
		}
	}
}
