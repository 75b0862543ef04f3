package toolbox_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"agent-stop-and-go/activities/oauth"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
)

// ownTokens are tokens of the agent, numbered as they are renewed.
type ownTokens struct {
	renewFn func(refused string, r oauth.Refusal) error // nil allows it

	mu       sync.Mutex
	number   int
	refusals []oauth.Refusal
}

func (o *ownTokens) Token(context.Context, string) (string, error) { return o.now(), nil }

func (o *ownTokens) Secrets(string) []string { return []string{o.now()} }

func (o *ownTokens) Renew(_ context.Context, _, refused string, r oauth.Refusal) (string, error) {
	if o.renewFn != nil {
		if err := o.renewFn(refused, r); err != nil {
			return "", err
		}
	}
	o.mu.Lock()
	o.number++
	o.refusals = append(o.refusals, r)
	o.mu.Unlock()
	return o.now(), nil
}

func (o *ownTokens) now() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.number == 0 {
		return ""
	}
	return fmt.Sprintf("own-canary-%d", o.number)
}

// wantOwn answers 401 without the token, and 403 to calls without the second one.
func wantOwn(w http.ResponseWriter, r *http.Request, body string) bool {
	token := r.Header.Get("Authorization")
	switch {
	case !strings.HasPrefix(token, "Bearer own-canary-"):
		w.Header().Set("WWW-Authenticate", `Bearer scope="read"`)
		w.WriteHeader(http.StatusUnauthorized)
	case token == "Bearer own-canary-1" && strings.Contains(body, toolsCall):
		w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="write"`)
		w.WriteHeader(http.StatusForbidden)
	default:
		return false
	}
	return true
}

func TestAServerGetsTheAgentsOwnToken(t *testing.T) {
	p, own := newProbe(), &ownTokens{}
	place := newSite(t)
	place.onRequest(wantOwn)
	place.start(newMCP(p))
	s := place.server("web")
	s.Credential = own
	box := openServers(t, s)
	if tools := box.Tools(t.Context()); len(tools) == 0 || !box.States()[0].Ready {
		t.Fatalf("got %d tools, %+v", len(tools), box.States())
	}
	got := mustCall(t, box, toolbox.Call{Server: "web", Tool: "touch", Destructive: true, Bearer: "caller-canary"})
	if got.Text != "touched" || len(p.notes()) != 1 {
		t.Errorf("got %+v, the tool ran %d times", got, len(p.notes()))
	}
	if len(own.refusals) != 2 || own.refusals[0].Scopes[0] != "read" || !own.refusals[1].MoreScopes || own.refusals[1].Scopes[0] != "write" {
		t.Errorf("refusals %+v", own.refusals)
	}
	for _, r := range place.requestsWith("") {
		if strings.Contains(r.header.Get("Authorization"), "caller-canary") {
			t.Errorf("the caller's token was sent with %s", r.body)
		}
	}
	got = mustCall(t, box, toolbox.Call{Server: "web", Tool: "echo", Arguments: []byte(`{"text":"you sent own-canary-2"}`)})
	if got.Text != "you sent [secret]" {
		t.Errorf("got %q", got.Text)
	}
}

func TestACallWithoutATokenWasNotMade(t *testing.T) {
	for name, tt := range map[string]struct {
		err  error
		kind contract.Kind // "" if the result says that authentication is required
	}{
		"a person must log in": {oauth.ErrLogin, ""},
		"no provider":          {errors.New("the provider is down"), contract.KindToolUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			p, own := newProbe(), &ownTokens{}
			place := newSite(t)
			place.onRequest(wantOwn)
			place.start(newMCP(p))
			s := place.server("web")
			s.Credential = own
			box := openServers(t, s)
			box.Tools(t.Context())
			own.renewFn = func(string, oauth.Refusal) error { return tt.err }
			got, err := box.Call(t.Context(), toolbox.Call{Server: "web", Tool: "touch", Destructive: true})
			if tt.kind == "" && (err != nil || !asksForLogin(got)) {
				t.Errorf("got %+v, %v", got, err)
			}
			if tt.kind != "" {
				wantKind(t, err, tt.kind)
				if !strings.Contains(err.Error(), "the provider is down") {
					t.Errorf("got %v", err)
				}
			}
			if len(p.notes()) != 0 {
				t.Error("the tool ran")
			}
		})
	}
}

func TestAServerWithoutATokenIsNotReady(t *testing.T) {
	for want, err := range map[string]error{"authentication is required": oauth.ErrLogin, "the agent has no access: the provider is down": errors.New("the provider is down")} {
		place := newSite(t)
		place.onRequest(wantOwn)
		place.start(newMCP(nil))
		s := place.server("web")
		s.Credential = &ownTokens{renewFn: func(string, oauth.Refusal) error { return err }}
		box := openServers(t, s)
		box.Tools(t.Context())
		if state := box.States()[0]; state.Ready || !strings.HasSuffix(state.Error, want) {
			t.Errorf("got %+v", state)
		}
	}
}

func TestAServerThatRefusesEveryTokenIsNotAskedForEver(t *testing.T) {
	own := &ownTokens{}
	place := newSite(t)
	place.onRequest(wantToken("none-of-these", func(body string) bool { return strings.Contains(body, toolsCall) }))
	place.start(newMCP(nil))
	s := place.server("web")
	s.Credential = own
	if got := mustCall(t, openServers(t, s), toolbox.Call{Server: "web", Tool: "touch"}); !asksForLogin(got) {
		t.Errorf("got %+v", got)
	}
	if len(own.refusals) != 2 || len(place.requestsWith(toolsCall)) != 3 {
		t.Errorf("%d tokens for %d requests", len(own.refusals), len(place.requestsWith(toolsCall)))
	}
}
