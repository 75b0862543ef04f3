package session

import (
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"time"

	"agent-stop-and-go/gateway/identity"
	"agent-stop-and-go/gateway/identity/keys"
	"agent-stop-and-go/workflows/contract"
)

// HeaderToken is the header with the token of a session.
const HeaderToken = "X-CSRF-Token"

// Session is the login of a person in a browser.
type Session struct {
	// ID names the session, and is no secret.
	ID string `json:"id"`
	// Token proves that a request comes from a page of this origin.
	Token string `json:"token"`
	// Issuer is the way that has proved the person: identity.IssuerKeys or an OpenID provider.
	Issuer string `json:"issuer"`
	// Client is the client of the provider at which the person has logged in.
	Client string         `json:"client,omitempty"`
	Key    keys.Stub      `json:"key,omitzero"`
	Proof  identity.Proof `json:"proof,omitzero"`
	// FreshUntil is when the provider must be asked again, Ends when the person must log in
	// again.
	FreshUntil   time.Time `json:"fresh"`
	Ends         time.Time `json:"ends"`
	RefreshToken string    `json:"refresh,omitempty"`
	// AccessToken is for servers that get the caller's token, or one in exchange.
	AccessToken string `json:"access,omitempty"`
	// IDToken tells the provider whose session ends.
	IDToken string `json:"id_token,omitempty"`
}

// Renewable reports whether the provider can be asked to go on with the session.
func (s Session) Renewable(now time.Time) bool { return s.RefreshToken != "" && now.Before(s.Ends) }

// Fresh reports whether what the session proves still counts.
func (s Session) Fresh(now time.Time) bool { return now.Before(s.FreshUntil) && now.Before(s.Ends) }

// Admits reports whether a token is that of the session.
func (s Session) Admits(token string) bool {
	return subtle.ConstantTimeCompare([]byte(token), []byte(s.Token)) == 1
}

func newSession(issuer string, ends time.Time) Session {
	return Session{ID: rand.Text(), Token: rand.Text(), Issuer: issuer, FreshUntil: ends, Ends: ends}
}

// ErrNoWay is the error of a session or a login for which no way is configured.
var ErrNoWay = errors.New("nobody can log in to this agent in this way")

// Sessions are the sessions of an agent. They are safe for concurrent use.
type Sessions struct {
	Options
	ended endings
}

// Options are the ways in which people log in.
type Options struct {
	Jar *Jar
	// Keys are the callers with a key, which begins a session that lasts KeyLasts. It may be nil.
	Keys     *identity.Keys
	KeyLasts time.Duration
	Logins   []*Login
	Now      func() time.Time
}

// New returns sessions, or nil if nobody can log in with a browser.
func New(o Options) *Sessions {
	if o.Keys == nil && len(o.Logins) == 0 {
		return nil
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Sessions{Options: o}
}

// Caller returns who has logged in, an *identity.Refused or an *identity.Unavailable.
func (s *Sessions) Caller(of Session) (contract.Identity, error) {
	switch now := s.Now(); {
	case !now.Before(of.Ends), s.ended.has(of.ID):
		return contract.Identity{}, &identity.Refused{Reason: "the session has ended: log in again"}
	case !of.Fresh(now):
		return contract.Identity{}, &identity.Refused{Reason: "the session must be renewed"}
	}
	if of.Issuer == identity.IssuerKeys && s.Keys != nil {
		return s.Keys.Caller(of.Key)
	}
	login, err := s.login(of.Issuer)
	if err != nil || login.ClientID != of.Client {
		return contract.Identity{}, &identity.Refused{Reason: "the session is of another agent: log in again"}
	}
	return login.Way.Caller(of.Proof), nil
}

// login returns the login at a provider; the first if issuer is "".
func (s *Sessions) login(issuer string) (*Login, error) {
	for _, l := range s.Logins {
		if issuer == "" || l.Way.Issuer == issuer {
			return l, nil
		}
	}
	return nil, ErrNoWay
}

// WithKey begins a session for a key.
func (s *Sessions) WithKey(text string) (Session, error) {
	if s.Keys == nil {
		return Session{}, &identity.Refused{Reason: ErrNoWay.Error()}
	}
	session := newSession(identity.IssuerKeys, s.Now().Add(s.KeyLasts))
	session.Key = keys.StubOf(text)
	_, err := s.Keys.Caller(session.Key)
	return session, err
}
