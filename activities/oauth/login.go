package oauth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"time"

	"golang.org/x/oauth2"
)

// loginTime is how long a person may take to log in.
const loginTime = 15 * time.Minute

// errNoAddress is the error of a login that could not come back.
var errNoAddress = errors.New("the agent has no address that a login can return to: set public_url")

// login is a login that was begun. One is open for each subject; another one replaces it.
type login struct {
	State    string    `json:"state"`
	Verifier string    `json:"verifier"`
	Subject  string    `json:"subject,omitempty"`
	Browser  string    `json:"browser,omitempty"`
	Source   source    `json:"source"`
	Scopes   []string  `json:"scopes,omitempty"`
	Named    bool      `json:"named,omitempty"` // the answer names its issuer
	Expires  time.Time `json:"expires"`
}

// Answer is what the authorization server sends back with the browser of a person.
type Answer struct {
	State, Code, Issuer string
	// Error is the code of a refusal, such as access_denied.
	Error string
	// Browser is what BeginLogin was called with.
	Browser string
}

// askPerson stores what a login must obtain, and fails with ErrLogin.
func (c *Client) askPerson(ctx context.Context, subject string, h *holder, r Refusal) error {
	if _, err := c.server.scopesFor(r.Scopes); err != nil {
		return err
	}
	if h.grant.Wanted == nil || !reflect.DeepEqual(*h.grant.Wanted, r) {
		h.grant.Wanted = &r
		if err := c.keep(ctx, subject, h, h.grant); err != nil {
			return err
		}
	}
	return ErrLogin
}

// BeginLogin returns the address at which a person logs in for a subject. browser identifies the
// browser; only the same one can finish the login.
func (c *Client) BeginLogin(ctx context.Context, subject, browser string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if c.redirectURL == "" {
		return "", errNoAddress
	}
	if c.server.Grant != AuthorizationCode {
		return "", errors.New("the agent logs in to this server by itself")
	}
	h, release, err := c.hold(ctx, subject)
	if err != nil {
		return "", err
	}
	defer release()
	name := c.recordName(subject)
	if err := c.load(ctx, name, &h.grant); err != nil {
		return "", err
	}
	var wanted Refusal
	if h.grant.Wanted != nil {
		wanted = *h.grant.Wanted
	}
	if open := h.grant.Login; open != nil { // nobody finished it: perhaps the client is unknown there
		if err := c.unregister(ctx, open.Source.Issuer); err != nil {
			return "", err
		}
	}
	at, scopes, err := c.prepare(ctx, h.grant, wanted)
	if err != nil {
		return "", err
	}
	if err := at.checkCode(); err != nil {
		return "", err
	}
	h.grant.Login = &login{
		State: name + rand.Text(), Verifier: oauth2.GenerateVerifier(), Subject: subject, Browser: browser, Source: at.source(),
		Scopes: withOfflineAccess(scopes, at.ScopesSupported), Named: at.AuthorizationResponseIssParameterSupported,
		Expires: c.now().Add(loginTime),
	}
	if err := c.keep(ctx, subject, h, h.grant); err != nil {
		return "", err
	}
	return h.grant.Login.address(at.AuthorizationEndpoint, c.redirectURL), nil
}

// checkCode reports what the authorization server lacks for the authorization code grant.
func (p place) checkCode() error {
	switch {
	case p.AuthorizationEndpoint == "":
		return fmt.Errorf("the authorization server %s has no address to log in at", quote(p.Issuer))
	case !slices.Contains(p.CodeChallengeMethodsSupported, "S256"):
		return fmt.Errorf("the authorization server %s does not say that it supports PKCE with S256, which MCP requires", quote(p.Issuer))
	}
	return nil
}

const offlineAccess = "offline_access"

// withOfflineAccess adds the scope that OpenID providers issue refresh tokens for.
func withOfflineAccess(scopes, supported []string) []string {
	if slices.Contains(supported, offlineAccess) {
		return union(scopes, []string{offlineAccess})
	}
	return scopes
}

// address is the authorization request.
func (l *login) address(endpoint, redirect string) string {
	config := oauth2.Config{ClientID: l.Source.Client.ID, RedirectURL: redirect, Scopes: l.Scopes, Endpoint: oauth2.Endpoint{AuthURL: endpoint}}
	options := []oauth2.AuthCodeOption{oauth2.S256ChallengeOption(l.Verifier), oauth2.SetAuthURLParam("resource", l.Source.Resource)}
	if slices.Contains(l.Scopes, offlineAccess) {
		options = append(options, oauth2.SetAuthURLParam("prompt", "consent")) // OpenID Connect Core, section 11
	}
	return config.AuthCodeURL(l.State, options...)
}

// stateName is the length of the name of a record, with which the state of its login begins.
const stateName = 64

// errState is the error of an answer to no login of this client.
var errState = errors.New("this login is not known here, or is over: begin it again")

// FinishLogin takes the answer to a login. Each login can be finished once.
func (c *Client) FinishLogin(ctx context.Context, a Answer) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	subject, err := c.subjectOf(ctx, a.State)
	if err != nil {
		return err
	}
	h, release, err := c.hold(ctx, subject)
	if err != nil {
		return err
	}
	defer release()
	if err := c.load(ctx, c.recordName(subject), &h.grant); err != nil {
		return err
	}
	l := h.grant.Login
	if l == nil || !equal(l.State, a.State) || !equal(l.Browser, a.Browser) || c.now().After(l.Expires) {
		return errState
	}
	h.grant.Login = nil
	if err := c.keep(ctx, subject, h, h.grant); err != nil {
		return err
	}
	if err := l.check(a); err != nil {
		return err
	}
	fresh, err := c.request(ctx, l.Source, nil, url.Values{
		"grant_type": {"authorization_code"}, "code": {a.Code}, "redirect_uri": {c.redirectURL}, "code_verifier": {l.Verifier},
	})
	if err != nil {
		return err
	}
	if fresh.Scopes == nil {
		fresh.Scopes = l.Scopes
	}
	return c.keep(ctx, subject, h, fresh)
}

// LoggedIn returns when the token of a subject was issued that the agent has, or the zero time if
// it has none.
func (c *Client) LoggedIn(ctx context.Context, subject string) (time.Time, error) {
	var g grant
	err := c.load(ctx, c.recordName(subject), &g)
	if g.Access == "" {
		return time.Time{}, err
	}
	return g.Issued, err
}

// subjectOf returns whose login a state belongs to.
func (c *Client) subjectOf(ctx context.Context, state string) (string, error) {
	if len(state) <= stateName {
		return "", errState
	}
	var g grant
	if err := c.load(ctx, state[:stateName], &g); err != nil {
		return "", err
	}
	if g.Login == nil || c.recordName(g.Login.Subject) != state[:stateName] {
		return "", errState
	}
	return g.Login.Subject, nil
}

// check accepts an answer that is a code of the authorization server that was asked (RFC 9207).
func (l *login) check(a Answer) error {
	switch {
	case a.Issuer == "" && l.Named, a.Issuer != "" && !sameIssuer(a.Issuer, l.Source.Issuer):
		return errors.New("the answer is not from the authorization server that was asked")
	case a.Error != "":
		return fmt.Errorf("the authorization server refused the login: %s", quote(a.Error))
	case a.Code == "":
		return errors.New("the answer has no code")
	}
	return nil
}

func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
