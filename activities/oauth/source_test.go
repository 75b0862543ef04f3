package oauth_test

import (
	"errors"
	"strings"
	"testing"

	"agent-stop-and-go/activities/bearer"
	"agent-stop-and-go/activities/oauth"
	"agent-stop-and-go/workflows/contract/login"
	"agent-stop-and-go/workflows/credential"
)

// after returns the error of a source whose token was refused with a challenge.
func after(t *testing.T, c *oauth.Client, token string, challenge string) error {
	t.Helper()
	refusal := bearer.RefusalOf([]string{challenge})
	refusal.Token = credential.Token{Bearer: token}
	_, err := oauth.Source{Client: c}.Token(t.Context(), bearer.Request{Server: bearer.Server{Name: "tools"}, Refusal: refusal})
	return err
}

func TestALoginForMoreScopesSaysWhich(t *testing.T) {
	w, s := newWorld(t), newShared(t)
	c, first := loggedIn(t, w, s, w.tools())
	l := bearer.Login(after(t, c, first, `Bearer error="insufficient_scope", scope="write"`))
	if l == nil || l.Way != login.AtServer || !strings.Contains(l.Reason, `the scopes "write"`) {
		t.Errorf("got %v", l)
	}
}

func TestATokenThatIsRefusedAtOnce(t *testing.T) {
	w, s := newWorld(t), newShared(t)
	c, first := loggedIn(t, w, s, w.tools())
	if l := bearer.Login(after(t, c, first, "Bearer")); l == nil || l.Way != login.AtServer {
		t.Errorf("of a person: got %v", l)
	}

	own := newShared(t).worker(t, w.credentials())
	var refused *bearer.Refused
	if err := after(t, own, "", "Bearer"); err != nil {
		t.Fatal(err)
	}
	if err := after(t, own, token(t, own), "Bearer"); !errors.As(err, &refused) || !strings.Contains(refused.Reason, "just issued") {
		t.Errorf("of the agent: got %v", err)
	}
}
