package session

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"agent-stop-and-go/gateway/identity"
)

// Login is the login of people at an OpenID provider: authorization code with PKCE.
type Login struct {
	// Way is the provider, and decides what people may do.
	Way                    *identity.OIDC
	ClientID, ClientSecret string
	// Scopes are what the provider is asked for. Without any it is openid, and offline_access,
	// groups, profile and email if the provider lists them.
	Scopes []string
	// KeepAccessTokens keeps the access token of a session for calls that are made with it.
	KeepAccessTokens bool
	// Lasts is how long a session lasts at most.
	Lasts time.Duration
	Now   func() time.Time
}

// attemptLasts is how long a person may take to log in at the provider, freshFor how long what the
// provider has said of a person counts.
const (
	attemptLasts = 10 * time.Minute
	freshFor     = 10 * time.Minute
)

// Attempt is a login that has begun.
type Attempt struct {
	Issuer   string    `json:"issuer"`
	State    string    `json:"state"`
	Nonce    string    `json:"nonce"`
	Verifier string    `json:"verifier"`
	Callback string    `json:"callback"`
	Return   string    `json:"return,omitempty"`
	Ends     time.Time `json:"ends"`
}

// Begin begins a login at a provider; "" is the first. It returns the address to send the browser to. The provider
// sends it back to callback, from where it goes on to the part of the page that is called next.
func (s *Sessions) Begin(ctx context.Context, issuer, callback, next string) (string, Attempt, error) {
	l, err := s.login(issuer)
	if err != nil {
		return "", Attempt{}, err
	}
	a := Attempt{
		Issuer: l.Way.Issuer, State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(),
		Callback: callback, Return: next, Ends: s.Now().Add(attemptLasts),
	}
	client, _, err := l.client(ctx, callback)
	if err != nil {
		return "", Attempt{}, err
	}
	return client.AuthCodeURL(a.State, oauth2.S256ChallengeOption(a.Verifier), oauth2.SetAuthURLParam("nonce", a.Nonce)), a, nil
}

// client returns the client of the provider.
func (l *Login) client(ctx context.Context, callback string) (*oauth2.Config, identity.Endpoints, error) {
	at, err := l.Way.Endpoints(ctx)
	if err != nil {
		return nil, at, err
	}
	if at.Authorization == "" || at.Token == "" {
		return nil, at, &identity.Unavailable{Reason: "the provider offers no logins", Err: errors.New("no authorization_endpoint or token_endpoint")}
	}
	return &oauth2.Config{
		ClientID: l.ClientID, ClientSecret: l.ClientSecret, RedirectURL: callback, Scopes: l.scopes(at),
		Endpoint: oauth2.Endpoint{AuthURL: at.Authorization, TokenURL: at.Token},
	}, at, nil
}

// scopes returns the scopes of a login: those that are configured or, without any, openid and the
// usual ones that the provider lists.
func (l *Login) scopes(at identity.Endpoints) []string {
	if len(l.Scopes) > 0 {
		return l.Scopes
	}
	usual := slices.DeleteFunc([]string{"offline_access", "profile", "email", "groups"}, func(s string) bool { return !at.Offers(s) })
	return append([]string{"openid"}, usual...)
}

// Finish returns the session of a person whom the provider has sent back with a query, or an
// *identity.Refused or *identity.Unavailable.
func (s *Sessions) Finish(ctx context.Context, a Attempt, query url.Values) (Session, error) {
	l, err := s.login(a.Issuer)
	if err != nil {
		return Session{}, &identity.Refused{Reason: err.Error()}
	}
	if subtle.ConstantTimeCompare([]byte(query.Get("state")), []byte(a.State)) != 1 {
		return Session{}, &identity.Refused{Reason: "this is the answer to another login: log in again"}
	}
	if failure := query.Get("error"); failure != "" {
		return Session{}, &identity.Refused{Reason: "the provider says: " + printable(cmp.Or(query.Get("error_description"), failure))}
	}
	client, at, err := l.client(ctx, a.Callback)
	if err != nil {
		return Session{}, err
	}
	if iss := query.Get("iss"); iss != "" && iss != l.Way.Issuer || iss == "" && at.NamesIssuer {
		return Session{}, &identity.Refused{Reason: "another provider has answered: log in again"}
	}
	token, err := client.Exchange(l.outgoing(ctx), query.Get("code"), oauth2.VerifierOption(a.Verifier))
	if err != nil {
		return Session{}, explain(err)
	}
	begun := newSession(l.Way.Issuer, s.Now().Add(l.Lasts))
	begun.Client = l.ClientID
	return l.session(ctx, begun, token, a.Nonce)
}

// outgoing returns a context with the HTTP client that reaches the provider.
func (l *Login) outgoing(ctx context.Context) context.Context {
	return context.WithValue(ctx, oauth2.HTTPClient, l.Way.Client)
}

// Renew asks the provider whether a session goes on.
func (s *Sessions) Renew(ctx context.Context, old Session) (Session, error) {
	l, err := s.login(old.Issuer)
	if err != nil || l.ClientID != old.Client || !old.Renewable(s.Now()) || s.ended.has(old.ID) {
		return Session{}, &identity.Refused{Reason: "the session has ended: log in again"}
	}
	client, _, err := l.client(ctx, "")
	if err != nil {
		return Session{}, err
	}
	token, err := client.TokenSource(l.outgoing(ctx), &oauth2.Token{RefreshToken: old.RefreshToken}).Token()
	if err != nil {
		return Session{}, explain(err)
	}
	return l.session(ctx, old, token, "")
}

// session completes a session with what the provider says. A provider may leave out the ID token when a
// session is renewed.
func (l *Login) session(ctx context.Context, s Session, token *oauth2.Token, nonce string) (Session, error) {
	idToken, _ := token.Extra("id_token").(string)
	now, ends := l.Now(), s.Ends
	if idToken != "" || nonce != "" {
		proof, expires, err := l.Way.VerifyLogin(ctx, idToken, l.ClientID, nonce)
		if err != nil {
			return Session{}, err
		}
		if nonce == "" && proof.Subject != s.Proof.Subject {
			return Session{}, &identity.Refused{Reason: "the session belongs to somebody else now: log in again"}
		}
		granted, _ := token.Extra("scope").(string)
		proof.Scopes = append(proof.Scopes, strings.Fields(granted)...)
		s.Proof, s.IDToken, ends = l.Way.Condense(proof), idToken, expires
	}
	s.RefreshToken = token.RefreshToken
	if l.KeepAccessTokens {
		s.AccessToken = token.AccessToken
	}
	if s.RefreshToken == "" { // nobody can ask whether it goes on
		s.Ends = earlier(s.Ends, ends)
		s.FreshUntil = s.Ends
		return s, nil
	}
	s.FreshUntil = earlier(s.Ends, now.Add(freshFor))
	return s, nil
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// explain tells a provider that refuses from one that fails. Texts of the provider are for the log: they
// may have parts of a token.
func explain(err error) error {
	var answer *oauth2.RetrieveError
	if errors.As(err, &answer) && answer.Response.StatusCode < 500 && answer.Response.StatusCode != http.StatusTooManyRequests {
		if answer.ErrorCode == "invalid_client" || answer.ErrorCode == "unauthorized_client" {
			return &identity.Unavailable{Reason: "the provider does not accept this agent: its client_id or client_secret is wrong", Err: errors.New(answer.ErrorCode)}
		}
		return &identity.Refused{Reason: "the provider has ended the login (" + printable(cmp.Or(answer.ErrorCode, answer.Response.Status)) + "): log in again"}
	}
	return &identity.Unavailable{Reason: "the provider cannot be reached", Err: err}
}

// printable shortens a text of the provider to what a message can have.
func printable(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, text)
	return text[:min(len(text), 200)]
}
