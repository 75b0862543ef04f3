package gateway_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/gateway/identity"
	"agent-stop-and-go/gateway/identity/identitytest"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/credential"
)

// newOIDCAPI is a gateway for callers with tokens of a provider. Its clock is ahead by a number
// of minutes.
func newOIDCAPI(t *testing.T, p *identitytest.Provider, ahead *atomic.Int64, change ...func(*gateway.Deps)) *api {
	way := identity.NewOIDC(identity.OIDCSettings{
		Issuer: p.URL, Audience: "agent", SubjectClaim: "sub", GroupsClaim: "groups", ClockSkew: time.Minute,
		Grants: identity.Grants{Scopes: []string{contract.ScopeConverse, contract.ScopeRead}, Groups: map[string][]string{"ops": {contract.ScopeReadAll}}},
		Now:    func() time.Time { return time.Now().Add(time.Duration(ahead.Load()) * time.Minute) },
	})
	return newAPI(t, &fakeBackend{}, append([]func(*gateway.Deps){func(d *gateway.Deps) {
		d.Backend, d.Callers = tenancy{d.Backend.(*fakeBackend), &sync.Map{}}, identity.Ways{way}
	}}, change...)...)
}

// day is a token of alice for the next day.
func day(t *testing.T, s identitytest.Signer, p *identitytest.Provider) string {
	return "Authorization: Bearer " + s.Token(t, p.Claims(map[string]any{"exp": time.Now().Add(24 * time.Hour).Unix(), "groups": nil}))
}

// The provider changes its keys and then fails for hours, while conversations are in use.
func TestConversationsSurviveNewKeysAndAnOutageOfTheProvider(t *testing.T) {
	t.Parallel()
	first, second, third := identitytest.RSAKey(t, "1"), identitytest.ECKey(t, "2"), identitytest.ECKey(t, "3")
	p := identitytest.NewProvider(t, first)
	var ahead atomic.Int64
	a := newOIDCAPI(t, p, &ahead)

	var token atomic.Value
	token.Store(day(t, first, p))
	conversations := make([]string, 50)
	for i := range conversations {
		conversations[i] = a.want(201, a.do("POST", "/conversations", `{}`, token.Load().(string))).text("conversation", "id")
	}
	everybody := func(what string) {
		t.Helper()
		var readers sync.WaitGroup
		for _, id := range conversations {
			readers.Go(func() {
				if r := a.do("GET", "/conversations/"+id, "", token.Load().(string)); r.status != 200 {
					t.Errorf("%s: %d %s", what, r.status, r.raw)
				}
			})
		}
		readers.Wait()
	}
	everybody("before")

	p.Publish(first, second)
	ahead.Add(1)
	everybody("old tokens after a new key")
	token.Store(day(t, second, p))
	everybody("new tokens after a new key")

	p.Away.Store(true)
	for range 4 {
		ahead.Add(120)
		everybody("an outage of hours")
	}
	r := a.do("GET", "/me", "", day(t, third, p)) // who knows whether it is one of its keys?
	a.wantError(503, "the provider of the token cannot be reached", r)
	if r.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}

	p.Publish(second, third)
	p.Away.Store(false)
	ahead.Add(1)
	a.want(200, a.do("GET", "/me", "", day(t, third, p)))
	everybody("after the outage")
	ahead.Add(1)
	a.wantError(401, "signature", a.do("GET", "/me", "", day(t, first, p)))
	if n := p.Fetches.Load(); n > 10 {
		t.Errorf("the keys were fetched %d times", n)
	}
}

func TestAProviderThatWasNeverReached(t *testing.T) {
	rs := identitytest.RSAKey(t, "1")
	p := identitytest.NewProvider(t, rs)
	p.Away.Store(true)
	var ahead atomic.Int64
	a := newOIDCAPI(t, p, &ahead)
	a.wantError(503, "cannot be reached", a.do("GET", "/me", "", day(t, rs, p)))
	a.want(200, a.do("GET", "/health", ""))
	p.Away.Store(false)
	ahead.Add(1)
	a.want(200, a.do("GET", "/me", "", day(t, rs, p)))
}

func TestProofsThatDoNotHold(t *testing.T) {
	rs, stranger := identitytest.RSAKey(t, "1"), identitytest.RSAKey(t, "1")
	p := identitytest.NewProvider(t, rs)
	var ahead atomic.Int64
	a := newOIDCAPI(t, p, &ahead)
	part := base64.RawURLEncoding.EncodeToString
	none := part([]byte(`{"alg":"none"}`)) + "." + part([]byte(`{"iss":"`+p.URL+`","aud":"agent","sub":"alice","exp":4102444800}`)) + "."
	valid := strings.TrimPrefix(day(t, rs, p), "Authorization: Bearer ")
	for name, tc := range map[string]struct {
		headers   []string
		challenge string
	}{
		"nothing":                {nil, `Bearer`},
		"no signature":           {[]string{"Authorization: Bearer " + none}, `Bearer error="invalid_token"`},
		"a stranger's signature": {[]string{day(t, stranger, p)}, `Bearer error="invalid_token"`},
		"expired":                {[]string{"Authorization: Bearer " + rs.Token(t, p.Claims(map[string]any{"exp": time.Now().Add(-time.Hour).Unix()}))}, `Bearer error="invalid_token"`},
		"another audience":       {[]string{"Authorization: Bearer " + rs.Token(t, p.Claims(map[string]any{"aud": "other"}))}, `Bearer error="invalid_token"`},
		"another scheme":         {[]string{"Authorization: Basic YWxpY2U6eA=="}, `Bearer error="invalid_token"`},
		"two tokens":             {[]string{"Authorization: Bearer " + valid, "Authorization: Bearer " + valid}, `Bearer error="invalid_token"`},
		"a name":                 {[]string{"X-User: alice", "X-Subject: alice", "X-Forwarded-User: alice"}, `Bearer`},
		"a token for tools":      {[]string{"X-Tool-Authorization: Bearer " + valid}, `Bearer`},
	} {
		for _, path := range []string{"/me", "/conversations", "/approvals/" + someUUID, "/no/such/route", "/tools?access_token=" + valid} {
			r := a.do("GET", path, "", tc.headers...)
			a.wantError(401, "this agent accepts a token of "+p.URL, r)
			if got := r.header.Get("WWW-Authenticate"); got != tc.challenge {
				t.Errorf("%s, %s: challenge %q", name, path, got)
			}
		}
	}
	if strings.Contains(a.logs.String(), valid[len(valid)-40:]) {
		t.Error("the log has a token")
	}
}

func TestAMissingScopeIsNamed(t *testing.T) {
	a := newTenancyAPI(t)
	r := a.do("POST", "/conversations", `{}`, badge(person("alice", "read")))
	a.wantError(403, "this needs the scope converse", r)
	if got := r.header.Get("WWW-Authenticate"); got != `Bearer error="insufficient_scope", scope="converse"` {
		t.Errorf("challenge %q", got)
	}
}

func TestWhoCalls(t *testing.T) {
	a := newTenancyAPI(t)
	alice := contract.Identity{Subject: "alice", Issuer: "keys", Groups: []string{"ops"}, Scopes: []string{"read"}}
	r := a.want(200, a.do("GET", "/me", "", badge(alice), "X-Tool-Authorization: Bearer s3cret"))
	if want := `{"authenticated":true,"subject":"alice","issuer":"keys","groups":["ops"],"scopes":["read"]}`; strings.TrimSpace(r.raw) != want {
		t.Errorf("got %s", r.raw)
	}
	if log := a.logs.String(); !strings.Contains(log, `"caller":"keys alice"`) || strings.Contains(log, "s3cret") {
		t.Errorf("logged %s", log)
	}
}

// What proves who calls is passed on only if it is a token of an OpenID provider, and somebody
// may get it. A token that is sent for tools comes before it.
func TestTheTokenForToolsOfACaller(t *testing.T) {
	rs := identitytest.RSAKey(t, "rsa-1")
	p := identitytest.NewProvider(t, rs)
	oidc := identity.NewOIDC(identity.OIDCSettings{
		Issuer: p.URL, Audience: "agent", SubjectClaim: "sub", GroupsClaim: "groups",
		Grants: identity.Grants{Scopes: []string{"converse", "read"}},
	})
	token := rs.Token(t, p.Claims(nil))
	ring, err := credential.NewKeyring(credential.Key{ID: "k1", Secret: []byte(strings.Repeat("k", credential.KeySize))})
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		headers   []string
		want, who string
		drop, all bool
	}{
		"of the provider":     {[]string{"Authorization: Bearer " + token}, token, p.URL + " alice", false, false},
		"for tools":           {[]string{"Authorization: Bearer " + token, "X-Tool-Authorization: Bearer for-tools"}, "for-tools", p.URL + " alice", false, false},
		"a badge":             {[]string{badge(person("alice", "converse"))}, "", "", false, false},
		"for nobody":          {[]string{"Authorization: Bearer " + token, "X-Tool-Authorization: Bearer for-tools"}, "", "", true, false},
		"the caller's name":   {[]string{"Authorization: Bearer " + token}, "", p.URL + " alice", true, true},
		"the name of a badge": {[]string{badge(person("alice", "converse"))}, "", person("alice").Key(), false, true},
	} {
		var started contract.ConversationInput
		b := &ownedScript{newScript().backend(), "", new(contract.DecideSignal), &started}
		a := newAPI(t, b.fakeBackend, func(d *gateway.Deps) {
			d.Backend, d.Callers, d.Keyring, d.DropTokens, d.SealCallers = b, append(identity.Ways{oidc}, badgesOnly...), ring, tc.drop, tc.all
		})
		a.do("POST", "/conversations", `{"message":"hello"}`, append(tc.headers, "Prefer: respond-async")...)
		if started.First == nil {
			t.Fatalf("%s: nothing was started", name)
		}
		var got credential.Token
		if sealed := started.First.Credential; sealed != "" {
			if got, err = ring.Open(started.ID, sealed, time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		if got.Bearer != tc.want || got.Caller != tc.who {
			t.Errorf("%s: another token than expected, of %q", name, got.Caller)
		}
	}
}

// The header of a proxy counts only from the proxy.
func TestAForgedHeaderOfTheProxyProvesNothing(t *testing.T) {
	proxy := &identity.Proxy{From: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, Header: "X-Subject", Grants: identity.Grants{Scopes: []string{"read"}}}
	a := newAPI(t, &fakeBackend{}, func(d *gateway.Deps) { d.Callers = identity.Ways{proxy} })
	for address, want := range map[string]int{"10.1.2.3:4": 200, "192.0.2.1:4": 401, "127.0.0.1:4": 401} {
		r := newRequest(http.MethodGet, "/me", "", "X-Subject: alice", "X-Forwarded-For: 10.1.2.3", "X-Real-IP: 10.1.2.3", "Forwarded: for=10.1.2.3")
		r.RemoteAddr = address
		a.want(want, a.send(r, ""))
	}
}

// What callers give as names is a claim beside what is proven, and Authorization is no token
// for tools.
func TestTheRecordHasWhatIsProven(t *testing.T) {
	var decided contract.DecideSignal
	var started contract.ConversationInput
	s := newScript()
	b := &ownedScript{s.backend(), person("alice").Key(), &decided, &started}
	a := newAPI(t, b.fakeBackend, func(d *gateway.Deps) { d.Backend, d.Callers = b, badgesOnly })
	alice := badge(person("alice", "converse", "read", "approve"))
	a.do("POST", "/conversations", `{"message":"hello"}`, alice, "Prefer: respond-async", "Authorization: Bearer for-the-agent", "X-User: mallory")
	if got := started.First; got == nil || got.Credential != "" || got.Identity.Subject != "alice" || got.Identity.Channel != "rest" || fmt.Sprint(got.Identity.Scopes) != "[converse]" {
		t.Errorf("started with %+v", got)
	}
	a.do("POST", "/conversations", `{"message":"hello"}`, alice, "Prefer: respond-async", "X-Tool-Authorization: Bearer for-tools")
	if got := started.First; got == nil || got.Credential == "" {
		t.Errorf("started with %+v", got)
	}
	a.do("POST", "/approvals/"+someUUID, `{"approved":true,"by":"the boss"}`, alice, "Prefer: respond-async", "X-User: mallory")
	if decided.By != "alice" || decided.OnBehalfOf != "the boss" || decided.Identity.Subject != "alice" || fmt.Sprint(decided.Identity.Scopes) != "[approve]" {
		t.Errorf("decided with %+v", decided)
	}
}

// While the disk is full nobody can be asked whose a conversation is: its export says so.
func TestAnExportIsShownToItsOwner(t *testing.T) {
	full := &unreadable{&fakeBackend{}}
	a := newAPI(t, full.fakeBackend, func(d *gateway.Deps) {
		d.Backend, d.Callers = full, badgesOnly
		d.Exports = fstest.MapFS{"conversation_" + someID + ".json": {Data: []byte(`{"id":"` + someID + `","status":"active","messages":[],
			"owner":{"subject":"alice","issuer":"keys"},"created_at":"2026-03-04T05:00:00Z","updated_at":"2026-03-04T05:06:00Z","version":3}`)}}
	})
	for name, want := range map[string]int{"alice": 200, "sees all": 200, "bob": 507, "another alice": 507} {
		r := a.do("GET", "/conversations/"+someID, "", badge(identities[name]))
		if r.status != want || want != 200 && strings.Contains(r.raw, someID) {
			t.Errorf("%s: %d %s", name, r.status, r.raw)
		}
	}
}

// unreadable is a backend on a full disk.
type unreadable struct{ *fakeBackend }

func (unreadable) Owner(context.Context, string) (service.Owner, error) {
	return service.Owner{}, service.NoSpace(nil)
}

// A reader does not join the follower of a conversation that somebody else follows.
func TestAFollowedConversationStaysItsOwners(t *testing.T) {
	s := newScript()
	b := &ownedScript{fakeBackend: s.backend(), owner: person("alice").Key()}
	a := newAPI(t, b.fakeBackend, func(d *gateway.Deps) { d.Backend, d.Callers = b, badgesOnly })
	stream := a.open("GET", eventsPath, "", badge(identities["alice"]))
	defer stream.leave()
	for len(stream.raw()) == 0 {
		runtime.Gosched()
	}
	a.wantError(404, "conversation not found: "+someID, a.do("GET", eventsPath, "", badge(identities["bob"])))
	a.wantError(404, "conversation not found: "+someID, a.do("POST", "/conversations/"+someID+"/messages", `{"message":"x"}`, badge(identities["bob"]), asEvents))
	if r := a.do("POST", "/a2a", `{"jsonrpc":"2.0","id":1,"method":"SubscribeToTask","params":{"id":"`+someID+`"}}`, badge(identities["bob"])); r.refusal() != 404 {
		t.Errorf("got %s", r.raw)
	}
}

// A cache in front of the agent must not show one caller what another one got.
func TestRepliesToCallersAreNotShared(t *testing.T) {
	a := newTenancyAPI(t)
	for _, path := range []string{"/me", "/tools", "/conversations", "/conversations/" + ofAlice.id, "/conversations/" + ofBob.id, "/no/such/route",
		"/conversations/" + ofAlice.id + "/media/" + ofSum} {
		for _, headers := range [][]string{nil, {badge(identities["alice"])}} {
			got := a.do("GET", path, "", headers...).header.Get("Cache-Control")
			if !strings.Contains(got, "private") && got != "no-store" {
				t.Errorf("%s: Cache-Control %q", path, got)
			}
		}
	}
}
