// Package serverlogin has the HTTP handlers with which a person logs in for a call that waits for
// it: to a tool server or another agent, or to this agent again.
//
//	GET /approvals/UUID/login     Begin: sends the browser to the provider, with a cookie
//	GET /auth/servers/callback    Complete: takes the provider's answer, and lets the call go on
//	GET /auth/client.json         Client: what providers read of this agent
//
// The cookie is sealed, and names the person who has begun the login and the approval: the
// provider's answer comes from another site, without the session of the browser. The state, the
// verifier and the tokens are with the Logins.
package serverlogin

import (
	"context"
	"crypto/rand"
	"errors"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/identity/session"
	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/approvers"
	"agent-stop-and-go/workflows/contract/login"
)

// Paths of the routes.
const (
	PathBegin    = "/approvals/:uuid/login"
	PathCallback = "/auth/servers/callback"
	PathClient   = "/auth/client.json"
)

// Logins obtain tokens for servers.
type Logins interface {
	// Begin returns the address at which a person logs in; only the same browser can finish it.
	Begin(ctx context.Context, n login.Need, browser string) (string, error)
	Finish(ctx context.Context, n login.Need, browser string, got login.Answer) error
	// Done reports whether somebody has logged in since a time.
	Done(ctx context.Context, n login.Need, since time.Time) (bool, error)
	// Metadata is the client metadata document, or nil if there is none.
	Metadata() ([]byte, error)
	// Base is the URL at which providers send people back, or "".
	Base() string
}

// Endpoint has the handlers. Without Logins nobody logs in to servers.
type Endpoint struct {
	Service *service.Service
	Logins  Logins
	Jar     *session.Jar
	// SignIn reports whether people can log in to the agent with a browser.
	SignIn bool
	Logger *slog.Logger
}

// cookie is the kind of the cookie of a login that has begun, lasts how long one may take.
const (
	cookie = "server_login"
	lasts  = 15 * time.Minute
)

// attempt is a login that has begun.
type attempt struct {
	Browser        string            `json:"browser"`
	Approval       string            `json:"approval"`
	ConversationID string            `json:"conversation"`
	Need           login.Need        `json:"need"`
	Caller         contract.Identity `json:"caller,omitzero"`
}

// Waiting returns an approval that waits for a login of the caller.
func (e *Endpoint) Waiting(c echo.Context) (contract.PendingApproval, error) {
	id := c.Param("uuid")
	if !contract.IsUUID(id) {
		return contract.PendingApproval{}, service.NoApproval(id)
	}
	view, err := e.Service.Approval(c.Request().Context(), id)
	p := view.Pending
	switch {
	case err != nil:
		return p, err
	case view.Result != nil:
		return p, service.Errorf(contract.KindDecided, "%s", service.AlreadyDecided(*view.Result))
	case p.Login == nil:
		return p, service.Errorf(contract.KindInvalid, "approval %s waits for a decision, and not for a login", id)
	case p.Login.Caller != callerOf(c).Identity.Key():
		return p, service.Errorf(contract.KindForbidden, "the login is for who has sent the message")
	}
	return p, nil
}

// May fails if the caller may not decide the approval.
func (e *Endpoint) May(c echo.Context) error {
	caller := callerOf(c).Identity
	if !contract.IsUUID(c.Param("uuid")) || !caller.Authenticated() {
		return nil
	}
	s, err := e.Service.Subject(c.Request().Context(), c.Param("uuid"))
	if err == nil && !approvers.May(caller, s.Owner.Key, s.Approvers) {
		err = service.Errorf(contract.KindForbidden, "approval %s is for others to decide", c.Param("uuid"))
	}
	return err
}

// Ready fails if a call that waits for a login would wait for another one.
func (e *Endpoint) Ready(c echo.Context, p contract.PendingApproval) error {
	if p.Login.Way == login.AtAgent {
		if callerOf(c).Token == "" {
			return service.Errorf(contract.KindInvalid, "the request has no token that can be exchanged: log in again, or send one in Authorization or X-Tool-Authorization")
		}
		return nil
	}
	done, err := e.done(c.Request().Context(), p)
	if err == nil && !done {
		err = service.Errorf(contract.KindWaiting, "nobody has logged in since the call waits: open %s", p.Login.URL)
	}
	return err
}

func (e *Endpoint) done(ctx context.Context, p contract.PendingApproval) (bool, error) {
	if e.Logins == nil {
		return false, errNoLogins
	}
	done, err := e.Logins.Done(ctx, *p.Login, p.CreatedAt)
	return done, unavailable(err)
}

var errNoLogins = service.Errorf(contract.KindNotFound, "nobody logs in to a server of this agent: none has own.grant: authorization_code")

// Begin sends the browser to the provider.
func (e *Endpoint) Begin(c echo.Context) error {
	p, err := e.Waiting(c)
	switch {
	case err != nil:
		return err
	case p.Login.Way == login.AtAgent && e.SignIn:
		return redirect(c, http.StatusFound, baseURL(c)+"/auth/login?return="+url.QueryEscape("#/a/"+p.UUID))
	case p.Login.Way == login.AtAgent:
		return service.Errorf(contract.KindInvalid, "nobody logs in to this agent with a browser: send the message again with a new token")
	case e.Logins == nil:
		return errNoLogins
	case baseURL(c) != e.Logins.Base(): // else the answer comes without the cookie
		return redirect(c, http.StatusFound, e.Logins.Base()+login.Path(p.UUID))
	}
	ctx := c.Request().Context()
	done, err := e.done(ctx, p)
	if err != nil {
		return err
	}
	if done {
		return e.goOn(c, ctx, callerOf(c), p.UUID, p.ConversationID, *p.Login)
	}
	a := attempt{Browser: rand.Text(), Approval: p.UUID, ConversationID: p.ConversationID, Need: *p.Login, Caller: callerOf(c).Identity}
	location, err := e.Logins.Begin(ctx, *p.Login, a.Browser)
	if err != nil {
		return unavailable(err)
	}
	if err := e.Jar.Keep(c.Response(), c.Request(), cookie, a, e.Jar.Now().Add(lasts)); err != nil {
		return err
	}
	return redirect(c, http.StatusFound, location)
}

// unavailable returns an error of the Logins in the words of the API. Their texts contain no
// secrets.
func unavailable(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return service.Errorf(service.KindUnavailable, "the login is not possible now: %s", err.Error()).Because(err)
}

// Complete takes the answer of the provider, and lets the call go on.
func (e *Endpoint) Complete(c echo.Context) error {
	if e.Logins == nil {
		return errNoLogins
	}
	var a attempt
	if err := e.Jar.Take(c.Response(), c.Request(), cookie, &a); err != nil {
		return e.failed(c, "This browser has begun no login, or it took too long. Open the address of the login again.")
	}
	ctx := c.Request().Context()
	if a.Caller.Authenticated() {
		ctx = service.ActingFor(ctx, a.Caller)
	}
	err := e.Logins.Finish(ctx, a.Need, a.Browser, login.Answer{
		State: c.QueryParam("state"), Code: c.QueryParam("code"), Issuer: c.QueryParam("iss"), Error: c.QueryParam("error"),
	})
	if err != nil {
		e.Logger.Warn("a login to a server has failed", "server", a.Need.Server, "approval", a.Approval, "caller", a.Caller.Key(), "error", err)
		return e.failed(c, "You are not logged in to "+a.Need.Server+": "+err.Error())
	}
	e.Logger.Info("logged in to a server", "server", a.Need.Server, "approval", a.Approval, "caller", a.Caller.Key())
	caller := service.Caller{Identity: a.Caller}
	return e.goOn(c, ctx, caller, a.Approval, a.ConversationID, a.Need)
}

// goOn lets all calls of the conversation go on that wait for the login, and sends the browser to
// the conversation. Whatever fails, the login counts: the page can be asked to go on again.
func (e *Endpoint) goOn(c echo.Context, ctx context.Context, caller service.Caller, approval, conversation string, n login.Need) error {
	err := e.decide(ctx, caller, approval)
	if err != nil {
		e.Logger.Warn("a call does not go on after a login", "approval", approval, "error", err)
	}
	view, failed := e.Service.Conversation(ctx, conversation, "")
	if failed != nil {
		view = contract.ConversationView{}
	}
	for _, p := range view.Pending {
		if p.UUID != approval && p.Login != nil && p.Login.Same(n) {
			err = errors.Join(err, e.decide(ctx, caller, p.UUID))
		}
	}
	if err != nil {
		return e.failed(c, "You are logged in to "+n.Server+", and the call could not be told. Open the address of the login again.")
	}
	return redirect(c, http.StatusSeeOther, baseURL(c)+"/#/c/"+conversation)
}

// decide ends one approval. One that has ended needs nothing.
func (e *Endpoint) decide(ctx context.Context, caller service.Caller, approval string) error {
	signal := Done()
	signal.RequestID = uuid.NewString()
	_, err := e.Service.Decide(ctx, caller, service.Decision{UUID: approval, Signal: signal})
	return err
}

// Done is the decision of an approval whose person has logged in.
func Done() contract.DecideSignal { return contract.DecideSignal{Approved: true, Via: login.Via} }

// Client replies with the client metadata document.
func (e *Endpoint) Client(c echo.Context) error {
	if e.Logins == nil {
		return errNoLogins
	}
	document, err := e.Logins.Metadata()
	switch {
	case err != nil:
		return err
	case document == nil:
		return service.Errorf(contract.KindNotFound, "there is no client metadata document: public_url is not https")
	}
	c.Response().Header().Set("Cache-Control", "public, max-age=300")
	return c.JSONBlob(http.StatusOK, document)
}

// failed tells a person why there is no login.
func (e *Endpoint) failed(c echo.Context, text string) error {
	h := c.Response().Header()
	h.Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	c.Response().WriteHeader(http.StatusForbidden)
	return failure.Execute(c.Response(), map[string]string{"Text": text, "Page": baseURL(c) + "/"})
}

var failure = template.Must(template.New("failure").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>Login to a server</title></head>
<body><main><h1>Login to a server</h1><p>{{.Text}}</p><p><a href="{{.Page}}">Back to the page</a></p></main></body></html>
`))

func redirect(c echo.Context, status int, location string) error {
	c.Response().Header().Set("Cache-Control", "no-store")
	c.Response().Header().Set("Referrer-Policy", "no-referrer") // the query has the code
	return c.Redirect(status, location)
}

func callerOf(c echo.Context) service.Caller { return request.From(c.Request().Context()).Caller }

func baseURL(c echo.Context) string { return callerOf(c).BaseURL }
