package gateway_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/approvers"
	"agent-stop-and-go/workflows/contract/login"
)

// waitingCall is a backend with a call of alice that waits for her login, and the Logins that she
// makes it with.
type waitingCall struct {
	tenancy
	need     login.Need
	base     string
	done     bool
	failure  error
	browsers []string // that have begun and finished
	decided  []contract.DecideSignal
}

func (w *waitingCall) pending() contract.PendingApproval {
	return contract.PendingApproval{UUID: ofAlice.uuid, ConversationID: ofAlice.id, Reason: contract.ReasonLogin, Login: w.need.For(ofAlice.uuid), CreatedAt: epoch}
}

func (w *waitingCall) Approval(context.Context, string) (contract.ApprovalView, error) {
	return contract.ApprovalView{Pending: w.pending()}, nil
}

func (w *waitingCall) Subject(context.Context, string) (service.Subject, error) {
	return service.Subject{ConversationID: ofAlice.id, Owner: service.Owner{Key: w.need.Caller}, Approvers: approvers.ForAnswer(nil), CallAs: contract.CallAsApprover}, nil
}

func (w *waitingCall) Decide(ctx context.Context, uuid string, in contract.DecideSignal) (*contract.ApprovalResult, error) {
	w.decided = append(w.decided, in)
	return w.tenancy.Decide(ctx, uuid, in)
}

func (w *waitingCall) Begin(_ context.Context, n login.Need, browser string) (string, error) {
	if n != *w.need.For(ofAlice.uuid) {
		return "", errors.New("another login")
	}
	w.browsers = append(w.browsers, browser)
	return "https://login.example.com/authorize?state=s", w.failure
}

func (w *waitingCall) Finish(_ context.Context, _ login.Need, browser string, got login.Answer) error {
	w.browsers = append(w.browsers, browser)
	w.done = got == login.Answer{State: "s", Code: "c", Issuer: "https://login.example.com"}
	if !w.done {
		return errors.New("this login is not known here")
	}
	return nil
}

func (w *waitingCall) Done(context.Context, login.Need, time.Time) (bool, error) {
	return w.done, w.failure
}
func (w *waitingCall) Metadata() ([]byte, error) {
	return []byte(`{"client_id":"https://a.example"}`), nil
}
func (w *waitingCall) Base() string { return w.base }

func newWaitingCall(t *testing.T) (*logins, *waitingCall) {
	w := &waitingCall{base: "http://localhost:8080"}
	l := newLogins(t, func(d *gateway.Deps) {
		w.tenancy = tenancy{d.Backend.(tenancy).fakeBackend, &sync.Map{}}
		d.Backend, d.Logins = w, w
	})
	w.need = login.Need{Server: "crm", Way: login.AtServer, URL: w.base, Caller: contract.Identity{Subject: "alice", Issuer: l.provider.URL}.Key()}
	return l, w
}

var loginPath = "/approvals/" + ofAlice.uuid + "/login"

func TestALoginToAServer(t *testing.T) {
	l, w := newWaitingCall(t)
	b := l.visitor().login()
	b.wantError(409, "nobody has logged in", b.post(loginPath, `{}`))
	r := b.want(302, b.do("GET", loginPath, ""))
	if got := r.header.Get("Location"); got != "https://login.example.com/authorize?state=s" {
		t.Errorf("the browser is sent to %s", got)
	}
	c := b.cookies["server_login_8080"]
	if c == nil || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || strings.Contains(c.Value, "alice") {
		t.Fatalf("the cookie is %v", c)
	}
	answer, _ := url.Parse("http://localhost:8080/auth/servers/callback?state=s&code=c&iss=https%3A%2F%2Flogin.example.com")
	r = b.want(303, b.complete(answer))
	if got := r.header.Get("Location"); got != "http://localhost:8080/#/c/"+ofAlice.id {
		t.Errorf("the page is %s", got)
	}
	if len(w.decided) != 1 || !w.decided[0].Approved || w.decided[0].Via != login.Via || w.decided[0].Identity.Key() != w.need.Caller {
		t.Errorf("decided %+v", w.decided)
	}
	if len(w.browsers) != 2 || w.browsers[0] != w.browsers[1] || len(w.browsers[0]) < 20 {
		t.Errorf("browsers %q", w.browsers)
	}
	b.want(403, b.complete(answer)) // a login is finished once
	if len(w.browsers) != 2 || len(w.decided) != 1 {
		t.Error("the answer counts twice")
	}
	if r := b.want(303, b.do("GET", loginPath, "")); len(w.decided) != 2 { // there is a login now
		t.Errorf("%s, decided %+v", r.raw, w.decided)
	}
	if log := l.logs.String(); strings.Contains(log, w.browsers[0]) || strings.Contains(log, "code=c") {
		t.Errorf("the log has a secret: %s", log)
	}
}

func TestOnlyThePersonWhoseTurnItIsLogsInToAServer(t *testing.T) {
	l, w := newWaitingCall(t)
	b := l.visitor()
	b.want(401, b.do("GET", loginPath, ""))
	if r := b.want(302, b.do("GET", loginPath, "", "Accept: text/html")); r.header.Get("Location") != "http://localhost:8080/#/a/"+ofAlice.uuid {
		t.Errorf("without a session: %v", r.header)
	}
	b.login()
	w.need.Caller = "keys alice"
	b.want(403, b.do("GET", loginPath, ""))
	b.want(403, b.post(loginPath, `{}`))
	b.wantError(403, "X-CSRF-Token", b.do("POST", loginPath, `{}`))
	if len(w.browsers) != 0 || len(w.decided) != 0 {
		t.Errorf("begun %q, decided %v", w.browsers, w.decided)
	}
}

func TestAnAnswerWithoutALoginIsRefused(t *testing.T) {
	l, w := newWaitingCall(t)
	b := l.visitor().login()
	wrong, _ := url.Parse("http://localhost:8080/auth/servers/callback?state=other&code=c")
	if r := b.want(403, b.complete(wrong)); !strings.Contains(r.raw, "has begun no login") {
		t.Error(r.raw)
	}
	b.want(302, b.do("GET", loginPath, ""))
	if r := b.want(403, b.complete(wrong)); !strings.Contains(r.raw, "not known here") {
		t.Error(r.raw)
	}
	w.failure = errors.New("the metadata cannot be read")
	b.wantError(503, "the metadata cannot be read", b.do("GET", loginPath, ""))
	if len(w.decided) != 0 {
		t.Errorf("decided %v", w.decided)
	}
}

func TestANewTokenReplacesOneThatHasEnded(t *testing.T) {
	l, w := newWaitingCall(t)
	w.need.Way = login.AtAgent
	b := l.visitor().login()
	if r := b.want(302, b.do("GET", loginPath, "")); r.header.Get("Location") != "http://localhost:8080/auth/login?return=%23%2Fa%2F"+ofAlice.uuid {
		t.Errorf("the browser is sent to %v", r.header)
	}
	b.wantError(400, "no token", b.post(loginPath, `{}`))
	b.post(loginPath, `{}`, "X-Tool-Authorization: Bearer "+strings.Repeat("t", 40))
	if len(w.decided) != 1 || w.decided[0].Credential == "" || strings.Contains(w.decided[0].Credential, "ttt") {
		t.Errorf("decided %+v", w.decided)
	}
}
