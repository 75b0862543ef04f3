// Package cookie keeps values in cookies of a browser, sealed with the keys of a process: nothing is
// stored, so any process with the same keys can read them.
//
// A cookie is HttpOnly; over https its name begins with __Host-.
package cookie

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

	"agent-stop-and-go/gateway/identity/forwarded"
	"agent-stop-and-go/workflows/credential"
)

const (
	// maxPiece is how much of a value one cookie has: browsers keep 4096 bytes of name, value
	// and attributes.
	maxPiece  = 3600
	maxPieces = 4
)

// ErrNone is the error of a request without the cookie, or with one that nobody here has made.
var ErrNone = errors.New("the browser has no such cookie")

// ErrTooLarge is the error of a value that is larger than what browsers keep.
var ErrTooLarge = errors.New("more than browsers keep")

// Jar seals values and keeps them in cookies. The kind of a value is the name of its cookie and is sealed
// with it, so that no cookie passes for one of another kind.
type Jar struct {
	Keyring *credential.Keyring
	// PublicURL is the URL at which browsers reach the process; "" if it is that of each request.
	PublicURL string
	// Proxies are believed when they say that a browser has come over https.
	Proxies forwarded.Proxies
	Now     func() time.Time
}

// Set gives a value to the browser until it ends.
func (j *Jar) Set(w http.ResponseWriter, r *http.Request, kind string, v any, ends time.Time, site http.SameSite) error {
	sealed, err := j.seal(kind, v, ends)
	if err != nil {
		return err
	}
	if len(sealed) > maxPiece*maxPieces {
		return fmt.Errorf("%d bytes: %w", len(sealed), ErrTooLarge)
	}
	for i := range maxPieces {
		n := min(len(sealed), maxPiece)
		j.set(w, r, j.pieceName(r, kind, i), sealed[:n], ends, site)
		sealed = sealed[n:]
	}
	return nil
}

// Get reads the value of a kind into v, or fails with ErrNone.
func (j *Jar) Get(r *http.Request, kind string, v any) error {
	token, err := j.Keyring.Open(kind, j.Value(r, kind), j.Now())
	if err == nil {
		err = json.Unmarshal([]byte(token.Bearer), v)
	}
	if err != nil {
		return ErrNone // whatever it is, it is none of ours
	}
	return nil
}

// Remove takes the value of a kind from the browser.
func (j *Jar) Remove(w http.ResponseWriter, r *http.Request, kind string, site http.SameSite) {
	for i := range maxPieces {
		j.set(w, r, j.pieceName(r, kind, i), "", time.Time{}, site)
	}
}

// Value returns the sealed value of a kind in all its pieces, or "".
func (j *Jar) Value(r *http.Request, kind string) string {
	var value strings.Builder
	for i := range maxPieces {
		c, err := r.Cookie(j.pieceName(r, kind, i))
		if err != nil {
			break
		}
		value.WriteString(c.Value)
	}
	return value.String()
}

// Names returns the names of the cookies of a kind.
func (j *Jar) Names(r *http.Request, kind string) []string {
	var names []string
	for i := range maxPieces {
		names = append(names, j.pieceName(r, kind, i))
	}
	return names
}

// Secure reports whether the browser has come over https.
func (j *Jar) Secure(r *http.Request) bool {
	if j.PublicURL != "" {
		return strings.HasPrefix(j.PublicURL, "https:")
	}
	return j.Proxies.Scheme(r) == "https"
}

// seal seals a value for one kind of cookie until it ends.
func (j *Jar) seal(kind string, v any, ends time.Time) (string, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	return j.Keyring.Seal(kind, credential.Token{Bearer: string(data), ExpiresAt: ends})
}

// set sets a cookie, or removes it if the value is empty.
func (j *Jar) set(w http.ResponseWriter, r *http.Request, name, value string, ends time.Time, site http.SameSite) {
	c := &http.Cookie{Name: name, Value: value, Path: "/", HttpOnly: true, Secure: j.Secure(r), SameSite: site}
	if c.MaxAge = int(ends.Sub(j.Now()).Seconds()); value == "" || c.MaxAge <= 0 {
		if _, err := r.Cookie(name); err != nil {
			return
		}
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

// pieceName returns the name of the cookie with a part of a value.
func (j *Jar) pieceName(r *http.Request, kind string, i int) string {
	name := j.name(r, kind)
	if i == 0 {
		return name
	}
	return name + "." + strconv.Itoa(i)
}

// name returns the name of a cookie. Cookies do not tell ports and paths apart, but processes on one
// machine must not take each other's.
func (j *Jar) name(r *http.Request, kind string) string {
	host, path := r.Host, ""
	if u, err := url.Parse(j.PublicURL); err == nil && u.Host != "" {
		host, path = u.Host, u.Path
	}
	name := kind
	if _, port, err := net.SplitHostPort(host); err == nil {
		name += "_" + port
	}
	name += strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.TrimRight(path, "/"))
	if j.Secure(r) {
		return "__Host-" + name
	}
	return name
}
