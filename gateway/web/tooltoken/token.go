package tooltoken

import (
	"crypto/rand"
	"crypto/subtle"
	"net/http"
	"time"

	"golang.org/x/oauth2"

	"agent-stop-and-go/gateway/identity/cookie"
)

// The kinds of cookies.
const (
	sessionCookie = "web_tools"
	attemptCookie = "web_tools_login"
)

// lasts is how long a session lasts at most, attemptLasts how long a person may take to log in, and
// margin how long before its end a token is renewed.
const (
	lasts        = 30 * 24 * time.Hour
	attemptLasts = 10 * time.Minute
	margin       = time.Minute
)

// Session is what the authorization server has given for the tools.
type Session struct {
	// ID names the session, and is no secret. Proof proves that a request comes from a page of
	// this origin.
	ID    string `json:"id"`
	Proof string `json:"proof"`
	// Access goes to the agent until Expires, which is zero if the server has not said.
	Access  string    `json:"access"`
	Expires time.Time `json:"expires,omitzero"`
	Refresh string    `json:"refresh,omitempty"`
	Ends    time.Time `json:"ends"`
}

// Attempt is a login that has begun.
type Attempt struct {
	State    string    `json:"state"`
	Verifier string    `json:"verifier"`
	Return   string    `json:"return,omitempty"`
	Ends     time.Time `json:"ends"`
}

func newSession(t *oauth2.Token, now time.Time) Session {
	return Session{ID: rand.Text(), Proof: rand.Text(), Ends: now.Add(lasts)}.with(t, now)
}

// with returns the session with a new token. A server may go on with the old refresh token.
func (s Session) with(t *oauth2.Token, now time.Time) Session {
	s.Access, s.Expires = t.AccessToken, time.Time{}
	if !t.Expiry.IsZero() {
		s.Expires = now.Add(time.Until(t.Expiry))
	}
	if t.RefreshToken != "" {
		s.Refresh = t.RefreshToken
	}
	return s
}

// expires is when the token ends.
func (s Session) expires() time.Time {
	if s.Expires.IsZero() || s.Ends.Before(s.Expires) {
		return s.Ends
	}
	return s.Expires
}

// active reports whether the token can be used.
func (s Session) active(now time.Time) bool { return s.Access != "" && now.Before(s.expires()) }

// renewable reports whether the server can be asked for another token.
func (s Session) renewable(now time.Time) bool { return s.Refresh != "" && now.Before(s.Ends) }

// admits reports whether a proof is that of the session.
func (s Session) admits(proof string) bool {
	return s.Proof != "" && subtle.ConstantTimeCompare([]byte(proof), []byte(s.Proof)) == 1
}

// session returns the session of a browser, or cookie.ErrNone.
func (l *Login) session(r *http.Request) (Session, error) {
	var s Session
	if err := l.Jar.Get(r, sessionCookie, &s); err != nil {
		return Session{}, err
	}
	return s, nil
}

func (l *Login) keep(w http.ResponseWriter, r *http.Request, s Session) error {
	return l.Jar.Set(w, r, sessionCookie, s, s.Ends, http.SameSiteStrictMode)
}

// takeAttempt returns the login that the browser has begun, and forgets it.
func (l *Login) takeAttempt(w http.ResponseWriter, r *http.Request) (Attempt, error) {
	var a Attempt
	err := l.Jar.Get(r, attemptCookie, &a)
	l.Jar.Remove(w, r, attemptCookie, http.SameSiteLaxMode)
	if err != nil {
		return Attempt{}, cookie.ErrNone
	}
	return a, nil
}
