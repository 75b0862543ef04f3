package session

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"agent-stop-and-go/gateway/identity/cookie"
	"agent-stop-and-go/gateway/identity/forwarded"
	"agent-stop-and-go/workflows/credential"
)

// The kinds of cookies.
const (
	sessionCookie = "agent_session"
	loginCookie   = "agent_login"
)

// ErrNoCookie is the error of a request without the cookie, or with one that nobody here has made.
var ErrNoCookie = errors.New("the browser has no session")

// Jar keeps sessions, and logins that have begun, in cookies of a browser, sealed with the keys of the
// agent.
type Jar struct {
	Keyring *credential.Keyring
	// PublicURL is the URL at which browsers reach the agent; "" if it is that of each request.
	PublicURL string
	// Proxies are believed when they say that a browser has come over https.
	Proxies forwarded.Proxies
	Now     func() time.Time
}

func (j *Jar) cookies() *cookie.Jar { return (*cookie.Jar)(j) }

// SetSession gives a session to the browser.
func (j *Jar) SetSession(w http.ResponseWriter, r *http.Request, s Session) error {
	err := j.cookies().Set(w, r, sessionCookie, s, s.Ends, http.SameSiteStrictMode)
	if errors.Is(err, cookie.ErrTooLarge) && s.IDToken != "" {
		s.IDToken = "" // the provider asks whose session ends
		err = j.cookies().Set(w, r, sessionCookie, s, s.Ends, http.SameSiteStrictMode)
	}
	if errors.Is(err, cookie.ErrTooLarge) {
		return fmt.Errorf("the login has %w: have the provider send fewer groups", err)
	}
	return err
}

// Session returns the session of a browser, which may have to be renewed, or ErrNoCookie.
func (j *Jar) Session(r *http.Request) (Session, error) {
	var s Session
	if err := j.cookies().Get(r, sessionCookie, &s); err != nil {
		return Session{}, ErrNoCookie
	}
	return s, nil
}

// has reports whether a browser has a session, of whatever value.
func (j *Jar) has(r *http.Request) bool { return j.cookies().Value(r, sessionCookie) != "" }

// RemoveSession takes the session from the browser.
func (j *Jar) RemoveSession(w http.ResponseWriter, r *http.Request) {
	j.cookies().Remove(w, r, sessionCookie, http.SameSiteStrictMode)
}

// SetAttempt keeps a login that has begun.
func (j *Jar) SetAttempt(w http.ResponseWriter, r *http.Request, a Attempt) error {
	return j.Keep(w, r, loginCookie, a, a.Ends)
}

// TakeAttempt returns the login that the browser has begun, or ErrNoCookie, and forgets it.
func (j *Jar) TakeAttempt(w http.ResponseWriter, r *http.Request) (Attempt, error) {
	var a Attempt
	err := j.Take(w, r, loginCookie, &a)
	return a, err
}

// Keep keeps a value of some kind in a cookie that comes with links from other sites, too.
func (j *Jar) Keep(w http.ResponseWriter, r *http.Request, kind string, v any, ends time.Time) error {
	return j.cookies().Set(w, r, kind, v, ends, http.SameSiteLaxMode)
}

// Peek reads a value that Keep has kept. It fails with ErrNoCookie.
func (j *Jar) Peek(r *http.Request, kind string, v any) error {
	if err := j.cookies().Get(r, kind, v); err != nil {
		return ErrNoCookie
	}
	return nil
}

// Take reads a value that Keep has kept, and forgets it. It fails with ErrNoCookie.
func (j *Jar) Take(w http.ResponseWriter, r *http.Request, kind string, v any) error {
	err := j.cookies().Get(r, kind, v)
	j.cookies().Remove(w, r, kind, http.SameSiteLaxMode)
	if err != nil {
		return ErrNoCookie
	}
	return nil
}
