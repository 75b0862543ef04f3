package tooltoken

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"agent-stop-and-go/gateway/identity"
)

// patience limits a request to the authorization server.
const patience = 10 * time.Second

// Client is a client of an authorization server.
type Client struct {
	ID, Secret  string
	RedirectURL string
	Scopes      []string
	// Issuer finds the endpoints; without it they are Fixed.
	Issuer *identity.OIDC
	Fixed  identity.Endpoints
	// HTTP reaches the server. The default has a time limit.
	HTTP *http.Client
}

// Refused is the error of a login or a token that the server does not accept. Its text is for people.
type Refused struct{ Reason string }

func (e *Refused) Error() string { return e.Reason }

// Unavailable is the error of a server that does not answer, or not to this client. Reason is for people,
// Err for the log.
type Unavailable struct {
	Reason string
	Err    error
}

func (e *Unavailable) Error() string { return fmt.Sprintf("%s: %v", e.Reason, e.Err) }

// Unwrap returns Err.
func (e *Unavailable) Unwrap() error { return e.Err }

func (c *Client) endpoints(ctx context.Context) (identity.Endpoints, error) {
	at := c.Fixed
	if c.Issuer != nil {
		var err error
		if at, err = c.Issuer.Endpoints(ctx); err != nil {
			return at, &Unavailable{"the login server cannot be reached", err}
		}
	}
	if at.Authorization == "" || at.Token == "" {
		return at, &Unavailable{"the login server offers no logins", errors.New("no authorization_endpoint or token_endpoint")}
	}
	return at, nil
}

func (c *Client) oauth(at identity.Endpoints) *oauth2.Config {
	return &oauth2.Config{
		ClientID: c.ID, ClientSecret: c.Secret, RedirectURL: c.RedirectURL, Scopes: c.Scopes,
		Endpoint: oauth2.Endpoint{AuthURL: at.Authorization, TokenURL: at.Token},
	}
}

// outgoing returns a context whose requests reach the server and end in time.
func (c *Client) outgoing(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	return context.WithValue(ctx, oauth2.HTTPClient, c.client()), cancel
}

func (c *Client) client() *http.Client { return cmp.Or(c.HTTP, &http.Client{Timeout: patience}) }

// location is the address at which a person logs in. It asks for a token that can be renewed: of servers that
// know access_type, and of those of OpenID, which want the person's consent to it.
func (c *Client) location(ctx context.Context, a Attempt) (string, error) {
	at, err := c.endpoints(ctx)
	if err != nil {
		return "", err
	}
	return c.oauth(at).AuthCodeURL(a.State, oauth2.S256ChallengeOption(a.Verifier), oauth2.AccessTypeOffline, oauth2.ApprovalForce), nil
}

// exchange returns the token of a person whom the server has sent back with a query.
func (c *Client) exchange(ctx context.Context, a Attempt, query url.Values) (*oauth2.Token, error) {
	if failure := query.Get("error"); failure != "" {
		return nil, &Refused{"the login server says: " + printable(cmp.Or(query.Get("error_description"), failure))}
	}
	if query.Get("code") == "" {
		return nil, &Refused{"the login server has sent no code: log in again"}
	}
	at, err := c.endpoints(ctx)
	if err != nil {
		return nil, err
	}
	if iss := query.Get("iss"); c.Issuer != nil && (iss != "" || at.NamesIssuer) && iss != c.Issuer.Issuer {
		return nil, &Refused{"another server has answered: log in again"}
	}
	ctx, cancel := c.outgoing(ctx)
	defer cancel()
	token, err := c.oauth(at).Exchange(ctx, query.Get("code"), oauth2.VerifierOption(a.Verifier))
	return token, explain(err)
}

// renew returns another token for a refresh token.
func (c *Client) renew(ctx context.Context, refresh string) (*oauth2.Token, error) {
	at, err := c.endpoints(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := c.outgoing(ctx)
	defer cancel()
	token, err := c.oauth(at).TokenSource(ctx, &oauth2.Token{RefreshToken: refresh}).Token()
	return token, explain(err)
}

// revoke revokes a token (RFC 7009), if the server can and answers.
func (c *Client) revoke(ctx context.Context, token, hint string) {
	at, err := c.endpoints(ctx)
	if err != nil || at.Revocation == "" || token == "" {
		return
	}
	form := url.Values{"token": {token}, "token_type_hint": {hint}, "client_id": {c.ID}}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, at.Revocation, strings.NewReader(form.Encode()))
	if err != nil {
		return
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if c.Secret != "" {
		r.SetBasicAuth(url.QueryEscape(c.ID), url.QueryEscape(c.Secret))
	}
	if reply, err := c.client().Do(r); err == nil {
		reply.Body.Close()
	}
}

// explain tells a server that refuses from one that fails. Its own texts are for the log: they may have
// parts of a token.
func explain(err error) error {
	var answer *oauth2.RetrieveError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &answer), answer.Response.StatusCode >= 500, answer.Response.StatusCode == http.StatusTooManyRequests:
		return &Unavailable{"the login server cannot be reached", err}
	case answer.ErrorCode == "invalid_client", answer.ErrorCode == "unauthorized_client":
		return &Unavailable{"the login server does not accept this client: client_id or client_secret is wrong", errors.New(answer.ErrorCode)}
	}
	return &Refused{"the login server has ended the login (" + printable(cmp.Or(answer.ErrorCode, answer.Response.Status)) + "): log in again"}
}

// printable shortens a text of the server to what a message can have.
func printable(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, text)
	return text[:min(len(text), 200)]
}
