package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"agent-stop-and-go/workflows/credential"
)

const (
	sessionCookie = "agent_session"
	loginCookie   = "agent_login"
	// maxPiece is how much of a value one cookie has: browsers keep 4096 bytes of name, value
	// and attributes.
	maxPiece  = 3600
	maxPieces = 4
)

// ErrNoCookie is the error of a request without the cookie, or with one that nobody here has made.
var ErrNoCookie = errors.New("the browser has no session")

// Jar keeps values in cookies of a browser, sealed with the keys of the agent.
type Jar struct {
	Keyring *credential.Keyring
	// PublicURL is the URL at which browsers reach the agent; "" if it is that of each request.
	PublicURL string
	Now       func() time.Time
}

// name returns the name of a cookie. Cookies do not tell ports and paths apart, but agents on one machine
// must not take each other's.
func (j *Jar) name(r *http.Request, name string) string {
	host, path := r.Host, ""
	if u, err := url.Parse(j.PublicURL); err == nil && u.Host != "" {
		host, path = u.Host, u.Path
	}
	if _, port, err := net.SplitHostPort(host); err == nil {
		name += "_" + port
	}
	name += strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.TrimRight(path, "/"))
	if j.secure(r) {
		return "__Host-" + name
	}
	return name
}

// secure reports whether the browser has come over https.
func (j *Jar) secure(r *http.Request) bool {
	if j.PublicURL != "" {
		return strings.HasPrefix(j.PublicURL, "https:")
	}
	return r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https")
}

// seal seals a value for one kind of cookie until it ends.
func (j *Jar) seal(kind string, v any, ends time.Time) (string, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	return j.Keyring.Seal(kind, credential.Token{Bearer: string(data), ExpiresAt: ends})
}

func (j *Jar) open(kind, sealed string, v any) error {
	token, err := j.Keyring.Open(kind, sealed, j.Now())
	if err == nil {
		err = json.Unmarshal([]byte(token.Bearer), v)
	}
	if err != nil {
		return ErrNoCookie // whatever it is, it is no session
	}
	return nil
}

// SetSession gives a session to the browser.
func (j *Jar) SetSession(w http.ResponseWriter, r *http.Request, s Session) error {
	sealed, err := j.seal(sessionCookie, s, s.Ends)
	if err == nil && len(sealed) > maxPiece*maxPieces && s.IDToken != "" {
		s.IDToken = "" // the provider asks whose session ends
		sealed, err = j.seal(sessionCookie, s, s.Ends)
	}
	if err != nil {
		return err
	}
	if len(sealed) > maxPiece*maxPieces {
		return fmt.Errorf("the login has %d bytes, more than browsers keep: have the provider send fewer groups", len(sealed))
	}
	name, rest := j.name(r, sessionCookie), sealed
	for i := range maxPieces {
		n := min(len(rest), maxPiece)
		j.set(w, r, pieceName(name, i), rest[:n], s.Ends, http.SameSiteStrictMode)
		rest = rest[n:]
	}
	return nil
}

// pieceName returns the name of a part of a value.
func pieceName(name string, i int) string {
	if i == 0 {
		return name
	}
	return name + "." + strconv.Itoa(i)
}

// set sets a cookie, or removes it if the value is empty.
func (j *Jar) set(w http.ResponseWriter, r *http.Request, name, value string, ends time.Time, site http.SameSite) {
	c := &http.Cookie{Name: name, Value: value, Path: "/", HttpOnly: true, Secure: j.secure(r), SameSite: site}
	if c.MaxAge = int(ends.Sub(j.Now()).Seconds()); value == "" || c.MaxAge <= 0 {
		if _, err := r.Cookie(name); err != nil {
			return
		}
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

// Session returns the session of a browser, which may have to be renewed, or ErrNoCookie.
func (j *Jar) Session(r *http.Request) (Session, error) {
	var s Session
	return s, j.open(sessionCookie, j.value(r, sessionCookie), &s)
}

// value returns the value of a cookie in all its pieces, or "".
func (j *Jar) value(r *http.Request, kind string) string {
	var value strings.Builder
	name := j.name(r, kind)
	for i := range maxPieces {
		c, err := r.Cookie(pieceName(name, i))
		if err != nil {
			break
		}
		value.WriteString(c.Value)
	}
	return value.String()
}

// RemoveSession takes the session from the browser.
func (j *Jar) RemoveSession(w http.ResponseWriter, r *http.Request) {
	name := j.name(r, sessionCookie)
	for i := range maxPieces {
		j.set(w, r, pieceName(name, i), "", time.Time{}, http.SameSiteStrictMode)
	}
}

// SetAttempt keeps a login that has begun.
func (j *Jar) SetAttempt(w http.ResponseWriter, r *http.Request, a Attempt) error {
	return j.Keep(w, r, loginCookie, a, a.Ends)
}

// TakeAttempt returns the login that the browser has begun, or ErrNoCookie, and forgets it.
func (j *Jar) TakeAttempt(w http.ResponseWriter, r *http.Request) (Attempt, error) {
	var a Attempt
	return a, j.Take(w, r, loginCookie, &a)
}

// Keep keeps a value of some kind in a cookie that comes with links from other sites, too.
func (j *Jar) Keep(w http.ResponseWriter, r *http.Request, kind string, v any, ends time.Time) error {
	sealed, err := j.seal(kind, v, ends)
	if err == nil && len(sealed) > maxPiece {
		err = fmt.Errorf("the cookie %s has %d bytes, more than browsers keep", kind, len(sealed))
	}
	if err == nil {
		j.set(w, r, j.name(r, kind), sealed, ends, http.SameSiteLaxMode)
	}
	return err
}

// Take reads a value that Keep has kept, and forgets it. It fails with ErrNoCookie.
func (j *Jar) Take(w http.ResponseWriter, r *http.Request, kind string, v any) error {
	err := j.open(kind, j.value(r, kind), v)
	j.set(w, r, j.name(r, kind), "", time.Time{}, http.SameSiteLaxMode)
	return err
}
