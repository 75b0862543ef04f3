package login

import (
	"context"
	"errors"
	"html/template"
	"log/slog"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/identity"
	"agent-stop-and-go/gateway/identity/attempts"
	"agent-stop-and-go/gateway/identity/session"
	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// KindRefused is the kind of logins that fail.
const KindRefused contract.Kind = "login_refused"

// Paths of the routes.
const (
	PathMethods  = "/auth/methods"
	PathSession  = "/auth/session"
	PathRenewal  = "/auth/session/renewal"
	PathLogin    = "/auth/login"
	PathCallback = "/auth/callback"
	PathLogout   = "/auth/logout"
)

// Endpoint has the handlers.
type Endpoint struct {
	// Sessions is nil if nobody can log in with a browser.
	Sessions *session.Sessions
	Methods  []identity.Method
	// Attempts limits logins that fail; it may be nil.
	Attempts *attempts.Attempts
	Logger   *slog.Logger
}

// List replies with the ways in which callers can prove who they are.
func (e *Endpoint) List(c echo.Context) error {
	c.Response().Header().Set("Cache-Control", "public, max-age=300")
	methods := e.Methods
	if methods == nil {
		methods = []identity.Method{}
	}
	return c.JSON(http.StatusOK, map[string]any{"methods": methods})
}

// state is what the page must know of its session.
type state struct {
	Active bool `json:"active"`
	// Token goes with each request that changes something.
	Token      string     `json:"csrf_token,omitempty"`
	Renewable  bool       `json:"renewable"`
	FreshUntil *time.Time `json:"fresh_until,omitempty"`
	EndsAt     *time.Time `json:"ends_at,omitempty"`
}

// Show replies with the state of the session of the browser.
func (e *Endpoint) Show(c echo.Context) error {
	if e.Sessions == nil {
		return e.reply(c, state{})
	}
	s, err := e.Sessions.Jar.Session(c.Request())
	if err != nil {
		return e.reply(c, state{})
	}
	_, err = e.Sessions.Caller(s)
	return e.show(c, s, err == nil)
}

func (e *Endpoint) show(c echo.Context, s session.Session, active bool) error {
	renewable := s.Renewable(e.Sessions.Now())
	if !active && !renewable {
		return e.reply(c, state{})
	}
	return e.reply(c, state{active, s.Token, renewable, &s.FreshUntil, &s.Ends})
}

func (e *Endpoint) reply(c echo.Context, s state) error {
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.JSON(http.StatusOK, s)
}

// Begin sends the browser to the provider.
func (e *Endpoint) Begin(c echo.Context) error {
	if e.Sessions == nil {
		return noWay()
	}
	next := c.QueryParam("return")
	if !isPlace.MatchString(next) {
		return service.Errorf(contract.KindInvalid, "return: expected a part of the page, such as #/c/7f9c24e8-3b12-4fef-91e0-5a1b2c3d4e5f")
	}
	location, attempt, err := e.Sessions.Begin(c.Request().Context(), c.QueryParam("issuer"), baseURL(c)+PathCallback, next)
	if err == nil {
		err = e.Sessions.Jar.SetAttempt(c.Response(), c.Request(), attempt)
	}
	if err != nil {
		return refusal(err)
	}
	return redirect(c, http.StatusFound, location)
}

// isPlace matches what may follow the address of the page: a part of it, or the page of package slackchat.
var isPlace = regexp.MustCompile(`^(#/[A-Za-z0-9/_-]{0,200}|slack/link)?$`)

// Complete takes the answer of the provider, begins the session and sends the browser to the page.
func (e *Endpoint) Complete(c echo.Context) error {
	if e.Sessions == nil {
		return noWay()
	}
	attempt, err := e.Sessions.Jar.TakeAttempt(c.Response(), c.Request())
	if err != nil {
		err = e.Attempts.Check(c.Request(), identity.Claim{}, func() error {
			return &identity.Refused{Reason: "this browser has begun no login, or took too long"}
		})
		return e.failed(c, err)
	}
	err = e.Attempts.CheckLogin(c.Request(), func() error { return e.complete(c, attempt) })
	if err != nil {
		return e.failed(c, err)
	}
	return redirect(c, http.StatusSeeOther, baseURL(c)+"/"+attempt.Return)
}

// complete begins the session of a login that this browser has begun.
func (e *Endpoint) complete(c echo.Context, attempt session.Attempt) error {
	s, err := e.Sessions.Finish(c.Request().Context(), attempt, c.QueryParams())
	if err != nil {
		return err
	}
	return e.keep(c, s)
}

// failed tells a person why there is no login.
func (e *Endpoint) failed(c echo.Context, err error) error {
	e.Logger.Warn("a login has failed", "error", err.Error())
	status, text := http.StatusInternalServerError, "The login could not be kept."
	var away *identity.Unavailable
	var refused *identity.Refused
	var many *identity.TooMany
	switch {
	case errors.As(err, &many):
		busy := service.Busy(many.Wait, "%s", many)
		status, text = http.StatusTooManyRequests, busy.Text
		c.Response().Header().Set("Retry-After", strconv.Itoa(int(busy.RetryAfter.Seconds())))
	case errors.As(err, &away):
		status, text = http.StatusServiceUnavailable, away.Reason
	case errors.As(err, &refused):
		status, text = http.StatusForbidden, refused.Reason
	}
	h := c.Response().Header()
	h.Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	c.Response().WriteHeader(status)
	return failure.Execute(c.Response(), map[string]string{"Text": text, "Page": baseURL(c) + "/"})
}

var failure = template.Must(template.New("failure").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>Not logged in</title></head>
<body><main><h1>You are not logged in</h1><p>{{.Text}}</p><p><a href="{{.Page}}">Back to the page</a></p></main></body></html>
`))

// keep gives a session to the browser. A session of nobody whom the agent can record is refused.
func (e *Endpoint) keep(c echo.Context, s session.Session) error {
	caller, err := e.Sessions.Caller(s)
	if err == nil {
		err = identity.Check(caller)
	}
	if err == nil {
		err = e.Sessions.Jar.SetSession(c.Response(), c.Request(), s)
	}
	if err == nil {
		e.Logger.Info("logged in", "caller", caller.Key(), "session", s.ID)
	}
	return err
}

// keyRequest is the body of a login with a key.
type keyRequest struct {
	Key string `json:"key"`
}

// WithKey begins the session of a person who has a key.
func (e *Endpoint) WithKey(c echo.Context) error {
	if e.Sessions == nil {
		return noWay()
	}
	var body keyRequest
	if _, err := request.Bind(c.Request(), &body); err != nil {
		return err
	}
	var s session.Session
	err := e.Attempts.Check(c.Request(), identity.ClaimOfKey(body.Key), func() (err error) {
		s, err = e.Sessions.WithKey(body.Key)
		return err
	})
	if err == nil {
		err = e.keep(c, s)
	}
	if err != nil {
		return refusal(err)
	}
	return e.show(c, s, true)
}

// Renew asks the provider whether the session goes on.
func (e *Endpoint) Renew(c echo.Context) error {
	old, err := e.session(c)
	if err != nil {
		return err
	}
	if !old.Renewable(e.Sessions.Now()) {
		return service.Errorf(KindRefused, "the session cannot be renewed: log in again")
	}
	s, err := e.Sessions.Renew(c.Request().Context(), old)
	if err == nil {
		err = e.keep(c, s)
	}
	if err != nil {
		if errors.As(err, new(*identity.Refused)) {
			e.Sessions.Jar.RemoveSession(c.Response(), c.Request())
		}
		return refusal(err)
	}
	return e.show(c, s, true)
}

// logoutReply has the address at which the person logs out of the provider, too.
type logoutReply struct {
	Location string `json:"location,omitempty"`
}

// End ends the session.
func (e *Endpoint) End(c echo.Context) error {
	old, err := e.session(c)
	if err != nil {
		return err
	}
	location := e.Sessions.End(c.Request().Context(), old, baseURL(c)+"/")
	e.Sessions.Jar.RemoveSession(c.Response(), c.Request())
	e.Logger.Info("logged out", "session", old.ID)
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.JSON(http.StatusOK, logoutReply{location})
}

// session returns the session of a request that changes it, and so must have its token.
func (e *Endpoint) session(c echo.Context) (session.Session, error) {
	if e.Sessions == nil {
		return session.Session{}, noWay()
	}
	s, err := e.Sessions.Jar.Session(c.Request())
	if err != nil {
		return s, service.Errorf(KindRefused, "this browser has no session")
	}
	if !s.Admits(c.Request().Header.Get(session.HeaderToken)) {
		return s, service.Errorf(contract.KindForbidden, "the header %s does not have the token of this session", session.HeaderToken)
	}
	return s, nil
}

func noWay() error {
	return service.Errorf(contract.KindNotFound, "%s; GET %s lists the ways", session.ErrNoWay, PathMethods)
}

// refusal returns an error in the words of the API.
func refusal(err error) error {
	var away *identity.Unavailable
	var refused *identity.Refused
	var many *identity.TooMany
	switch {
	case errors.As(err, &many):
		return service.Busy(many.Wait, "%s", many)
	case errors.As(err, &away):
		return service.Errorf(service.KindUnavailable, "%s", away.Reason).Because(away)
	case errors.As(err, &refused):
		return service.Errorf(KindRefused, "%s", refused.Reason)
	case errors.Is(err, session.ErrNoWay):
		return noWay()
	case errors.Is(err, context.Canceled):
		return err
	}
	return service.Errorf(service.KindLost, "the login could not be kept").Because(err)
}

func redirect(c echo.Context, status int, location string) error {
	c.Response().Header().Set("Cache-Control", "no-store")
	c.Response().Header().Set("Referrer-Policy", "no-referrer") // the query has the code
	return c.Redirect(status, location)
}

func baseURL(c echo.Context) string { return request.From(c.Request().Context()).Caller.BaseURL }
