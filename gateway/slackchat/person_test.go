package slackchat_test

import (
	"context"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/identity"
	"agent-stop-and-go/gateway/identity/keys"
	"agent-stop-and-go/gateway/identity/session"
	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/service/access"
	"agent-stop-and-go/gateway/slackchat"
	"agent-stop-and-go/gateway/slackchat/card"
	"agent-stop-and-go/gateway/slackchat/fakeslack"
	"agent-stop-and-go/mcpservers/hosting/guard"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/credential"
)

// office is a workspace whose agent wants to know who calls, with the page on which people say so.
type office struct {
	*workspace
	server   *httptest.Server
	sessions *session.Sessions
	file     string
	chat     *slackchat.Chat
	mu       sync.Mutex
	ahead    time.Duration
}

func (o *office) now() time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	return time.Now().Add(o.ahead)
}

func (o *office) wait(d time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ahead += d
}

func newOffice(t *testing.T) *office {
	w := newWorkspace(t)
	o := &office{workspace: w, file: filepath.Join(t.TempDir(), "keys.json")}
	key, err := credential.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	ring, err := credential.NewKeyring(key)
	if err != nil {
		t.Fatal(err)
	}
	reader := keys.NewReader(o.file, slog.New(slog.DiscardHandler))
	t.Cleanup(reader.Close)
	router := echo.New()
	o.server = httptest.NewServer(router)
	t.Cleanup(o.server.Close)
	o.sessions = session.New(session.Options{Jar: &session.Jar{Keyring: ring, PublicURL: o.server.URL, Now: o.now}, Keys: identity.NewKeys(reader), KeyLasts: time.Hour, Now: o.now})
	w.gateway(func(p *slackchat.Options) {
		backend := access.New(w.engine, nil, false)
		p.Service = service.New(service.Options{Backend: backend, See: backend.See, Blobs: noBlobs{}, Logger: p.Logger})
		p.Proven, p.Sessions, p.Keyring, p.Now, p.BaseURL = true, o.sessions, ring, o.now, o.server.URL
		w.made = func(c *slackchat.Chat) { o.chat = c }
	})
	router.Use(func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			r := c.Request()
			c.SetRequest(r.WithContext(request.With(r.Context(), &request.Call{Caller: service.Caller{BaseURL: o.server.URL}})))
			return next(c)
		}
	})
	router.GET(slackchat.Path, o.chat.Show)
	router.POST(slackchat.Path, o.chat.Confirm)
	router.GET("/login/:key", func(c echo.Context) error {
		s, err := o.sessions.WithKey(c.Param("key"))
		if err != nil {
			return err
		}
		return o.sessions.Jar.SetSession(c.Response(), c.Request(), s)
	})
	return o
}

// key makes a key with scopes.
func (o *office) key(name string, scopes ...string) string {
	o.Helper()
	text, err := keys.Add(o.file, name, scopes, time.Time{})
	if err != nil {
		o.Fatal(err)
	}
	return text
}

// browser is that of one person.
type browser struct {
	*office
	client *http.Client
}

func (o *office) browser() *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		o.Fatal(err)
	}
	return &browser{o, &http.Client{Jar: jar}}
}

func (b *browser) open(target string, form url.Values) (status int, body string) {
	b.Helper()
	if strings.HasPrefix(target, "/") {
		target = b.server.URL + target
	}
	var r *http.Response
	var err error
	if form == nil {
		r, err = b.client.Get(target)
	} else {
		r, err = b.client.PostForm(target, form)
	}
	if err != nil {
		b.Fatal(err)
	}
	defer r.Body.Close()
	data, err := io.ReadAll(r.Body)
	if err != nil {
		b.Fatal(err)
	}
	return r.StatusCode, string(data)
}

var (
	linkIn  = regexp.MustCompile(`<(http[^|>]+)\|Log in>`)
	fieldIn = regexp.MustCompile(`name="(csrf_token|invitation)" value="([^"]+)"`)
)

// invited returns the link that a user was told last.
func (o *office) invited(user string, n int) string {
	o.Helper()
	var links []string
	o.await("the user is invited", func() bool {
		links = nil
		for _, m := range o.Private(user) {
			if found := linkIn.FindStringSubmatch(m.Text); found != nil {
				links = append(links, found[1])
			}
		}
		return len(links) == n
	})
	return links[n-1]
}

// confirm opens a link as somebody who has logged in, and confirms it.
func (b *browser) confirm(link string) (status int, page string) {
	b.Helper()
	b.open(link, nil)
	form, page := b.form()
	if len(form) == 0 {
		return 0, page
	}
	status, answer := b.open(slackchat.Path, form)
	return status, page + answer
}

// form returns the form of the page, which is empty if it has none.
func (b *browser) form() (form url.Values, page string) {
	b.Helper()
	_, page = b.open(slackchat.Path, nil)
	form = url.Values{}
	for _, field := range fieldIn.FindAllStringSubmatch(page, -1) {
		form.Set(field[1], html.UnescapeString(field[2]))
	}
	return form, page
}

// link makes a Slack user a person.
func (o *office) link(user, key string) *browser {
	o.Helper()
	before := len(o.Private(user))
	o.Say(user, fakeslack.DM(user), "", "hello")
	o.await("the user is told something", func() bool { return len(o.Private(user)) > before })
	b := o.browser()
	b.open("/login/"+key, nil)
	if status, page := b.confirm(o.invited(user, 1)); status != http.StatusOK || !strings.Contains(page, user) {
		o.Fatalf("%d %s", status, page)
	}
	return b
}

func TestAUserLogsInOnceAndIsThatPerson(t *testing.T) {
	o := newOffice(t)
	key := o.key("alice", contract.ScopeConverse, contract.ScopeRead, contract.ScopeApprove)
	root := o.Say("U1", channel, "", fakeslack.Mention+" delete db-1")
	link := o.invited("U1", 1)
	if n := o.engine.taken(); n != 0 {
		t.Fatalf("%d messages were taken of nobody", n)
	}
	b := o.browser()
	if status, page := b.confirm(link); status != 0 || !strings.Contains(page, "Log in") {
		t.Fatalf("without a session: %d %s", status, page)
	}
	b.open("/login/"+key, nil)
	guessed, _ := b.form()
	guessed.Set("csrf_token", "guessed")
	if status, _ := b.open(slackchat.Path, guessed); status != http.StatusForbidden {
		t.Errorf("without the token of the session: %d", status)
	}
	status, page := b.confirm(link)
	if status != http.StatusOK || !strings.Contains(page, "@1 (Real U1, U1)") || !strings.Contains(page, "alice") || !strings.Contains(page, fakeslack.Team) {
		t.Fatalf("%d %s", status, page)
	}
	if status, page := b.confirm(link); status != http.StatusConflict {
		t.Errorf("a second time: %d %s", status, page)
	}
	o.Say("U1", channel, root, fakeslack.Mention+" delete db-1")
	c := o.card(channel, root)
	if !strings.Contains(string(c.Blocks), "For: alice") {
		t.Errorf("%s", c.Blocks)
	}
	if err := o.Press("U1", c, card.Approve); err != nil {
		t.Fatal(err)
	}
	o.told("U1", "Ask: members of ops")
	o.Say("U1", fakeslack.DM("U1"), "", "ok")
	o.await("the direct message is answered", func() bool { return o.engine.taken() == 2 })
}

// A browser has one cookie for the link. The page confirms the user that it shows, whichever link was
// opened since.
func TestAnotherLinkIsNotConfirmedByThePageOfTheFirst(t *testing.T) {
	o := newOffice(t)
	o.Say("U1", fakeslack.DM("U1"), "", "hello")
	o.Say("U2", fakeslack.DM("U2"), "", "hello")
	own, foreign := o.invited("U1", 1), o.invited("U2", 1)
	b := o.browser()
	b.open("/login/"+o.key("alice", contract.ScopeConverse, contract.ScopeRead), nil)
	b.open(own, nil)
	form, page := b.form()
	if !strings.Contains(page, "U1") {
		t.Fatal(page)
	}
	b.open(foreign, nil)
	if status, page := b.open(slackchat.Path, form); status != http.StatusConflict {
		t.Errorf("%d %s", status, page)
	}
	form.Del("invitation")
	if status, page := b.open(slackchat.Path, form); status != http.StatusConflict {
		t.Errorf("without a link in the form: %d %s", status, page)
	}
	for _, user := range []string{"U1", "U2"} {
		if linked := o.Thread(fakeslack.DM(user), ""); strings.Contains(fmt.Sprint(linked), "You are") {
			t.Errorf("%s is linked: %+v", user, linked)
		}
	}
}

// Browsers send the form with the origin of its page, which the door of the gateway accepts, unless
// the page says that nobody may learn its address: then it is null, which the door refuses.
func TestTheFormPassesTheDoor(t *testing.T) {
	o := newOffice(t)
	b := o.browser()
	r, err := b.client.Get(o.server.URL + slackchat.Path)
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	origin := o.server.URL
	if policy := r.Header.Get("Referrer-Policy"); policy == "no-referrer" || policy == "" {
		origin = "null"
	}
	post := httptest.NewRequest(http.MethodPost, o.server.URL+slackchat.Path, nil)
	post.Header.Set("Origin", origin)
	post.Header.Set("Sec-Fetch-Site", "same-origin")
	if refused := (guard.Rules{}).Check(post); refused != nil {
		t.Errorf("the form of %q: %s", r.Header.Get("Referrer-Policy"), refused.Text)
	}
}

func TestWhoMayNotDecideIsToldWhomToAsk(t *testing.T) {
	o := newOffice(t)
	alice, bob, boss := o.key("alice", contract.ScopeConverse, contract.ScopeRead, contract.ScopeApprove), o.key("bob", contract.ScopeConverse, contract.ScopeRead, contract.ScopeApprove), o.key("boss", contract.ScopeApprove, contract.ScopeApproveAll)
	o.link("U1", alice)
	o.link("U2", bob)
	o.link("U3", boss)
	root := o.Say("U1", channel, "", fakeslack.Mention+" delete db-1")
	c := o.card(channel, root)
	press := func(user, action string) {
		t.Helper()
		if err := o.Press(user, c, action); err != nil {
			t.Fatal(err)
		}
	}
	press("U2", card.Approve)
	o.told("U2", "Ask: members of ops")
	press("U9", card.Approve)
	o.told("U9", "Log in")
	o.Say("U2", channel, root, fakeslack.Mention+" me too")
	o.told("U2", "of somebody else")
	if r := o.engine.approvals[c0(c)].Result; r != nil {
		t.Fatalf("decided: %+v", r)
	}
	press("U3", card.Approve)
	o.shows(channel, root, "I will delete it.", "Run resources_remove?: Approved by boss", "It is deleted.")
	if r := o.engine.approvals[c0(c)].Result; r.Identity.Subject != "boss" || r.Via != slackchat.Via {
		t.Errorf("%+v", r)
	}
}

func TestALinkEnds(t *testing.T) {
	o := newOffice(t)
	b := o.link("U1", o.key("alice", contract.ScopeConverse, contract.ScopeRead))
	o.Say("U1", fakeslack.DM("U1"), "", "one")
	o.await("it is taken", func() bool { return o.engine.taken() == 1 })
	o.wait(61 * time.Minute)
	o.Say("U1", fakeslack.DM("U1"), "", "two")
	late := o.invited("U1", 2)
	o.wait(11 * time.Minute)
	if status, page := b.open(late, nil); status != http.StatusForbidden {
		t.Errorf("after ten minutes: %d %s", status, page)
	}
	if n := o.engine.taken(); n != 1 {
		t.Errorf("%d messages were taken", n)
	}
}

func TestUnlink(t *testing.T) {
	o := newOffice(t)
	o.link("U1", o.key("alice", contract.ScopeConverse, contract.ScopeRead))
	o.Command("U1", channel, "/agent", "unlink")
	o.await("it is answered", func() bool { return strings.Contains(strings.Join(o.Answers(), ""), "not linked to your account") })
	o.Say("U1", fakeslack.DM("U1"), "", "hello")
	o.invited("U1", 2)
}

// lease is one of several gateways in one process.
type lease struct{ held chan struct{} }

func (l lease) Hold(ctx context.Context, f func(context.Context)) {
	select {
	case l.held <- struct{}{}:
		f(ctx)
		<-l.held
	case <-ctx.Done():
	}
}

func TestOneGatewayConnectsAndAnotherOneTakesOver(t *testing.T) {
	w := newWorkspace(t)
	shared := lease{make(chan struct{}, 1)}
	with := func(o *slackchat.Options) { o.Lease = shared }
	stop := w.gateway(with)
	w.await("it is connected", func() bool { return w.Connections() == 1 })
	w.gateway(with)
	root := w.Say("U1", channel, "", fakeslack.Mention+" delete db-1")
	c := w.card(channel, root)
	if w.Joined() != 1 {
		t.Errorf("%d have connected", w.Joined())
	}
	stop()
	w.await("the other one is connected", func() bool { return w.Connections() == 1 && w.Joined() == 2 })
	if err := w.Press("U1", c, card.Approve); err != nil {
		t.Fatal(err)
	}
	w.shows(channel, root, "I will delete it.", approved, "It is deleted.")
}
