package e2e_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"agent-stop-and-go/gateway/identity/identitytest"
)

// guest is a caller with a token of a provider, and a conversation in which a call is asked for.
type guest struct {
	name, id, uuid string
	former         []string // tokens of keys that were replaced
	token          string
	spectator      *spectator // nil: nobody follows the conversation
}

// party is an agent with fifty guests.
type party struct {
	*api
	t        *testing.T
	tools    *tools
	provider *identitytest.Provider
	ahead    atomic.Int64 // minutes that the agent's clock for tokens is ahead
	begun    atomic.Int64 // turns that reached the model and are held there
	hold     chan struct{}
	guests   []*guest
}

// newParty starts conversations: in the even ones an approval waits, in the odd ones the turn
// runs until the model may answer. Every fifth one is followed.
func newParty(t *testing.T, key identitytest.Signer) *party {
	p := &party{t: t, provider: identitytest.NewProvider(t, key), hold: make(chan struct{})}
	h := newHome(t)
	h.extra = fmt.Sprintf("auth: [{type: oidc, issuer: %q, audience: agent}]\n", p.provider.URL)
	h.now = func() time.Time { return time.Now().Add(time.Duration(p.ahead.Load()) * time.Minute) }
	h.model.Always(p.model)
	p.tools = h.tools
	p.api, _ = h.inside()
	for i := range 50 {
		p.guests = append(p.guests, &guest{name: fmt.Sprintf("%s-%d", []string{"waits", "held"}[i%2], i)})
	}
	p.logIn(key)
	p.each("start", func(g *guest) error {
		var r reply
		err := p.call(&r, 201, g, "POST", "/conversations", "{}")
		if g.id = r.Body.Conversation.ID; err != nil {
			return err
		}
		return p.call(nil, 202, g, "POST", "/conversations/"+g.id+"/messages", messageJSON(fmt.Sprintf(`call note_add {"name":%q}`, g.name)), "Prefer: respond-async")
	})
	for i := 0; i < len(p.guests); i += 5 {
		p.guests[i].spectator = &spectator{t: t, texts: map[string]string{}}
		p.follow(p.guests[i])
	}
	eventually(t, "half of the turns run", func() bool { return p.begun.Load() >= 25 })
	p.ask(func(g *guest) bool { return !g.runs() })
	return p
}

func (g *guest) runs() bool { return strings.HasPrefix(g.name, "held") }

// model is obedient, but keeps the turns that run waiting.
func (p *party) model(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if bytes.Contains(body, []byte("held-")) && !bytes.Contains(body, []byte(`"role":"tool"`)) {
		p.begun.Add(1)
		select {
		case <-p.hold:
		case <-r.Context().Done():
			return
		}
	}
	obedient(w, r)
}

// logIn gives everybody a token for the next day.
func (p *party) logIn(key identitytest.Signer) {
	p.each("log in", func(g *guest) error {
		if g.token != "" {
			g.former = append(g.former, g.token)
		}
		g.token = p.tokenOf(g, key)
		return nil
	})
}

func (p *party) tokenOf(g *guest, key identitytest.Signer) string {
	return "Authorization: Bearer " + key.Token(p.t, p.provider.Claims(map[string]any{"sub": g.name, "groups": nil, "exp": time.Now().Add(24 * time.Hour).Unix()}))
}

// each does something for all guests at once.
func (p *party) each(what string, f func(*guest) error) {
	p.t.Helper()
	var all sync.WaitGroup
	for _, g := range p.guests {
		all.Go(func() {
			if err := f(g); err != nil {
				p.t.Errorf("%s: %s: %v", what, g.name, err)
			}
		})
	}
	all.Wait()
	if p.t.Failed() {
		p.t.FailNow()
	}
}

// call sends a request of a guest and requires its status. The reply may be nil.
func (p *party) call(r *reply, status int, g *guest, method, path, content string, headers ...string) error {
	got, err := p.try(method, path, content, append([]string{g.token}, headers...)...)
	if r != nil {
		*r = got
	}
	if err == nil && got.Status != status {
		err = fmt.Errorf("%s %s: status %d, want %d: %.300s", method, path, got.Status, status, got.Raw)
	}
	return err
}

func (p *party) follow(g *guest) { g.spectator.follow(p.api, g.id, g.token) }

// ask waits until the calls of some guests wait for their approval.
func (p *party) ask(some func(*guest) bool) {
	p.t.Helper()
	for _, g := range p.guests {
		if !some(g) {
			continue
		}
		eventually(p.t, g.name+" has an approval", func() bool {
			r := p.do("GET", "/conversations/"+g.id, "", g.token)
			if p := r.Body.Conversation.PendingApproval; p != nil {
				g.uuid = p.UUID
			}
			return g.uuid != ""
		})
	}
}

// stranger is another guest.
func (p *party) stranger(g *guest) *guest {
	for i := range p.guests {
		if p.guests[i] == g {
			return p.guests[(i+1)%len(p.guests)]
		}
	}
	return nil
}

// see has all guests read what is theirs, and try what is not.
func (p *party) see(when string) {
	p.t.Helper()
	p.each(when, func(g *guest) error {
		other := p.stranger(g)
		if err := p.call(nil, 200, g, "GET", "/conversations/"+g.id, ""); err != nil {
			return err
		}
		if err := p.call(nil, 404, other, "GET", "/conversations/"+g.id, ""); err != nil {
			return err
		}
		if err := p.call(nil, 404, other, "POST", "/conversations/"+g.id+"/messages", messageJSON("hello")); err != nil || g.uuid == "" {
			return err
		}
		if err := p.call(nil, 200, g, "GET", "/approvals/"+g.uuid, ""); err != nil {
			return err
		}
		return p.call(nil, 404, other, "POST", "/approvals/"+g.uuid, `{"approved":true}`)
	})
}

// refused requires that a token is refused with a status, for what its holder might do with one that
// holds.
func (p *party) refused(status int, g *guest, token string) error {
	holder := &guest{token: token}
	for _, request := range [][3]string{
		{"GET", "/conversations/" + g.id, ""}, {"POST", "/conversations/" + g.id + "/messages", messageJSON("hello")}, {"POST", "/approvals/" + g.uuid, `{"approved":true}`},
	} {
		if err := p.call(nil, status, holder, request[0], request[1], request[2]); err != nil {
			return err
		}
	}
	return nil
}

// finish approves the call of a guest and requires what came of it.
func (p *party) finish(g *guest) error {
	var r reply
	if err := p.call(&r, 200, g, "POST", "/approvals/"+g.uuid, `{"approved":true}`); err != nil {
		return err
	}
	if want := "The tool said: added " + g.name; r.Body.Result.Response != want {
		return fmt.Errorf("the answer is %q, want %q", r.Body.Result.Response, want)
	}
	if err := p.call(&r, 200, g, "GET", "/approvals/"+g.uuid, ""); err != nil {
		return err
	}
	if want := fmt.Sprintf(`"identity":{"subject":%q,"issuer":%q`, g.name, p.provider.URL); !strings.Contains(r.Raw, want) {
		return fmt.Errorf("the record does not name who decided: %s", r.Raw)
	}
	return nil
}

// judge requires that each call ran once.
func (p *party) judge() {
	p.t.Helper()
	ran := map[any]int{}
	for _, c := range p.tools.called("note_add") {
		ran[c.Args["name"]]++
	}
	for _, g := range p.guests {
		if ran[g.name] != 1 {
			p.t.Errorf("the call of %s ran %d times", g.name, ran[g.name])
		}
	}
	if len(ran) != len(p.guests) {
		p.t.Errorf("%d different calls ran, want %d", len(ran), len(p.guests))
	}
}

// The provider replaces its key, withdraws the old one and fails for hours, while turns run,
// approvals wait and streams are open. Whoever has a valid token goes on meanwhile, and nobody else.
func TestFiftyConversationsRunThroughNewKeysAndAnOutageOfTheProvider(t *testing.T) {
	t.Parallel()
	first, second, third := identitytest.RSAKey(t, "1"), identitytest.ECKey(t, "2"), identitytest.ECKey(t, "3")
	p := newParty(t, first)
	p.see("before")

	p.provider.Publish(first, second)
	p.ahead.Add(1)
	p.see("old tokens after a new key")
	p.logIn(second)
	p.see("new tokens after a new key")

	p.provider.Publish(second)
	p.ahead.Add(11)
	eventually(t, "the old key ends", func() bool { return p.do("GET", "/me", "", p.guests[0].former[0]).Status == 401 })
	for _, g := range p.guests {
		if g.spectator == nil {
			continue
		}
		for e := range g.spectator.events { // a stream ends with the token that opened it
			g.spectator.take(e)
		}
		p.follow(g)
	}

	p.provider.Away.Store(true)
	p.ahead.Add(120)
	close(p.hold)
	p.ask((*guest).runs)
	p.see("at the beginning of an outage")
	p.ahead.Add(240)
	p.see("after hours of an outage")
	p.each("tokens that nobody can check", func(g *guest) error {
		if err := p.refused(503, g, g.former[0]); err != nil {
			return err
		}
		return p.refused(503, g, p.tokenOf(g, third))
	})
	if calls := p.tools.called("note_add"); len(calls) > 0 {
		t.Fatalf("%d calls ran before anybody approved", len(calls))
	}
	p.each("decide", p.finish)
	for _, g := range p.guests {
		if g.spectator != nil {
			for g.spectator.until("RUN_FINISHED").Outcome.Type != "success" {
			}
			g.spectator.stop()
		}
	}
	p.judge()

	p.provider.Publish(third)
	p.provider.Away.Store(false)
	p.ahead.Add(1)
	p.logIn(third)
	p.see("after the outage")
	if err := p.refused(401, p.guests[0], p.guests[0].former[1]); err != nil {
		t.Errorf("a token of a key that was withdrawn: %v", err)
	}
	p.judge()
	if n := p.provider.Fetches.Load(); n > 10 {
		t.Errorf("the keys were fetched %d times", n)
	}
}
