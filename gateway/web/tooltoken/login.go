package tooltoken

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"html/template"
	"log/slog"
	"net/http"
	"regexp"
	"strings"

	"golang.org/x/oauth2"

	"agent-stop-and-go/gateway/identity/cookie"
)

// HeaderSession is the header with the proof of a session. Requests that have it go to the agent with the
// token.
const HeaderSession = "X-Tool-Session"

// Paths of the routes, besides the callback.
const (
	PathLogin   = "/login"
	PathRenewal = "/login/renewal"
	PathLogout  = "/logout"
	PathSession = "/api/session"
)

// Login has the handlers.
type Login struct {
	Client *Client
	Jar    *cookie.Jar
	// Callback is the path of the redirect_url.
	Callback string
	Logger   *slog.Logger
}

// Register adds the routes.
func (l *Login) Register(mux *http.ServeMux) {
	mux.HandleFunc("GET "+PathLogin, l.begin)
	mux.HandleFunc("GET "+l.Callback, l.complete)
	mux.HandleFunc("GET "+PathSession, l.show)
	mux.HandleFunc("POST "+PathRenewal, l.renew)
	mux.HandleFunc("POST "+PathLogout, l.end)
}

// Cookies lists the names of cookies that are for nobody else.
func (l *Login) Cookies(r *http.Request) []string {
	return append(l.Jar.Names(r, sessionCookie), l.Jar.Names(r, attemptCookie)...)
}

// Token returns the token that goes to the agent with a request, or "".
func (l *Login) Token(r *http.Request) string {
	proof := r.Header.Get(HeaderSession)
	if proof == "" {
		return ""
	}
	s, err := l.session(r)
	if err != nil || !s.admits(proof) || !s.active(l.Jar.Now()) {
		return ""
	}
	return s.Access
}

// isPlace matches what may follow the address of the page.
var isPlace = regexp.MustCompile(`^(#/[A-Za-z0-9/_-]{0,200})?$`)

// begin sends the browser to the login server.
func (l *Login) begin(w http.ResponseWriter, r *http.Request) {
	place := r.URL.Query().Get("return")
	if !isPlace.MatchString(place) {
		reply(w, http.StatusBadRequest, failure{"return: expected a part of the page, such as #/c/7f9c24e8-3b12-4fef-91e0-5a1b2c3d4e5f"})
		return
	}
	a := Attempt{State: rand.Text(), Verifier: oauth2.GenerateVerifier(), Return: place, Ends: l.Jar.Now().Add(attemptLasts)}
	location, err := l.Client.location(r.Context(), a)
	if err == nil {
		err = l.Jar.Set(w, r, attemptCookie, a, a.Ends, http.SameSiteLaxMode)
	}
	if err != nil {
		l.tell(w, err)
		return
	}
	redirect(w, r, http.StatusFound, location)
}

// complete takes the answer of the login server, and sends the browser to the page.
func (l *Login) complete(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	a, err := l.takeAttempt(w, r)
	if err != nil {
		l.tell(w, &Refused{"this browser has begun no login, or took too long"})
		return
	}
	if subtle.ConstantTimeCompare([]byte(query.Get("state")), []byte(a.State)) != 1 {
		l.tell(w, &Refused{"this is the answer to another login: log in again"})
		return
	}
	token, err := l.Client.exchange(r.Context(), a, query)
	if err != nil {
		l.tell(w, err)
		return
	}
	s := newSession(token, l.Jar.Now())
	if err := l.keep(w, r, s); err != nil {
		l.tell(w, err)
		return
	}
	l.Logger.Info("logged in for tools", "session", s.ID)
	redirect(w, r, http.StatusSeeOther, l.base()+"/"+a.Return)
}

// base is the address of the page without a slash at the end; "" for the root of the server.
func (l *Login) base() string { return strings.TrimSuffix(l.Jar.PublicURL, "/") }

// state is what the page must know of its session.
type state struct {
	Authenticated bool   `json:"authenticated"`
	Proof         string `json:"csrf_token,omitempty"`
	Renewable     bool   `json:"renewable,omitempty"`
	// FreshFor is after how many seconds the token should be renewed.
	FreshFor float64 `json:"fresh_for,omitempty"`
}

// show replies with the state of the session.
func (l *Login) show(w http.ResponseWriter, r *http.Request) {
	s, err := l.session(r)
	if err != nil {
		s = Session{}
	}
	l.reply(w, s)
}

func (l *Login) reply(w http.ResponseWriter, s Session) {
	now := l.Jar.Now()
	out := state{Authenticated: s.active(now), Renewable: s.renewable(now)}
	if out.Authenticated || out.Renewable {
		out.Proof = s.Proof
		out.FreshFor = max(0, s.expires().Add(-margin).Sub(now).Seconds())
	}
	reply(w, http.StatusOK, out)
}

// admitted returns the session of a request that changes it, and so must have its proof.
func (l *Login) admitted(w http.ResponseWriter, r *http.Request) (Session, bool) {
	s, err := l.session(r)
	switch {
	case err != nil:
		reply(w, http.StatusUnauthorized, failure{"this browser has no login for tools"})
	case !s.admits(r.Header.Get(HeaderSession)):
		reply(w, http.StatusForbidden, failure{"the header " + HeaderSession + " does not have the token of this session"})
	default:
		return s, true
	}
	return Session{}, false
}

// renew gets another token. A refusal ends the session, a server that is away does not.
func (l *Login) renew(w http.ResponseWriter, r *http.Request) {
	s, ok := l.admitted(w, r)
	if !ok {
		return
	}
	if !s.renewable(l.Jar.Now()) {
		reply(w, http.StatusUnauthorized, failure{"the login cannot be renewed: log in again"})
		return
	}
	// The browser may leave; the server has taken the refresh token all the same.
	token, err := l.Client.renew(context.WithoutCancel(r.Context()), s.Refresh)
	if err == nil {
		s = s.with(token, l.Jar.Now())
		err = l.keep(w, r, s)
	}
	var refused *Refused
	switch {
	case err == nil:
		l.reply(w, s)
		return
	case errors.As(err, &refused):
		l.Jar.Remove(w, r, sessionCookie, http.SameSiteStrictMode)
	}
	status, text := explained(err)
	l.Logger.Warn("a login for tools was not renewed", "session", s.ID, "error", err.Error())
	reply(w, status, failure{text})
}

// end forgets the tokens, and revokes them where the server can.
func (l *Login) end(w http.ResponseWriter, r *http.Request) {
	s, ok := l.admitted(w, r)
	if !ok {
		return
	}
	l.Jar.Remove(w, r, sessionCookie, http.SameSiteStrictMode)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), patience)
	defer cancel()
	l.Client.revoke(ctx, s.Refresh, "refresh_token")
	l.Client.revoke(ctx, s.Access, "access_token")
	l.Logger.Info("logged out for tools", "session", s.ID)
	reply(w, http.StatusOK, state{})
}

// explained returns the status and the text of an error.
func explained(err error) (int, string) {
	var away *Unavailable
	var refused *Refused
	switch {
	case errors.As(err, &refused):
		return http.StatusUnauthorized, refused.Reason
	case errors.As(err, &away):
		return http.StatusServiceUnavailable, away.Reason
	}
	return http.StatusInternalServerError, "the login could not be kept"
}

// tell tells a person why there is no login.
func (l *Login) tell(w http.ResponseWriter, err error) {
	l.Logger.Warn("a login for tools has failed", "error", err.Error())
	status, text := explained(err)
	if status == http.StatusUnauthorized {
		status = http.StatusForbidden
	}
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	w.WriteHeader(status)
	_ = refusal.Execute(w, map[string]string{"Text": text, "Page": l.base() + "/"}) // the browser may have left
}

var refusal = template.Must(template.New("refusal").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>Not logged in</title></head>
<body><main><h1>You are not logged in for the tools</h1><p>{{.Text}}</p><p><a href="{{.Page}}">Back to the page</a></p></main></body></html>
`))

// failure is the body of an error.
type failure struct {
	Error string `json:"error"`
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // the browser may have left
}

func redirect(w http.ResponseWriter, r *http.Request, status int, location string) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer") // the query has the code
	http.Redirect(w, r, location, status)
}
