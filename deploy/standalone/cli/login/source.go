package login

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

// early is how long before its end a token is refreshed.
const early = 30 * time.Second

// Bearer returns the token for the agent at a URL, or ErrNone. It refreshes a token that has ended.
func (s Store) Bearer(ctx context.Context, agentURL string) (string, error) {
	l, err := s.Load(agentURL)
	if err != nil {
		return "", err
	}
	if l.usable() {
		return l.bearer(), nil
	}
	err = s.locked(agentURL, func() error {
		if l, err = s.Load(agentURL); err != nil || l.usable() { // another process may have refreshed it
			return err
		}
		return s.refresh(ctx, l)
	})
	if err != nil {
		return "", err
	}
	return l.bearer(), nil
}

// usable reports whether the token has not ended.
func (l *Login) usable() bool {
	ends := claimsOf(l.bearer()).Expires
	return ends == 0 || time.Now().Add(early).Before(time.Unix(ends, 0))
}

func (s Store) refresh(ctx context.Context, l *Login) error {
	ended := fmt.Errorf("your login at %s has ended: run 'agent login --url %s'", l.URL, l.URL)
	if l.Token.RefreshToken == "" {
		return ended
	}
	c := oauth2.Config{ClientID: l.ClientID, Endpoint: oauth2.Endpoint{TokenURL: l.TokenURL, AuthStyle: oauth2.AuthStyleInParams}}
	token, err := c.TokenSource(context.WithValue(ctx, oauth2.HTTPClient, outgoing), &oauth2.Token{RefreshToken: l.Token.RefreshToken}).Token()
	var answer *oauth2.RetrieveError
	switch {
	case errors.As(err, &answer) && answer.Response.StatusCode < 500:
		return ended
	case err != nil:
		return fmt.Errorf("refresh the login at %s: %w", l.Issuer, err)
	}
	l.take(token)
	return s.Save(l)
}

// Transport sends requests to the agent at a URL with the login of the user. It fails if that has ended,
// and sends requests as they are if there is none.
func (s Store) Transport(agentURL string, base http.RoundTripper) http.RoundTripper {
	return transport{s, agentURL, base}
}

type transport struct {
	store Store
	url   string
	base  http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	bearer, err := t.store.Bearer(r.Context(), t.url)
	if errors.Is(err, ErrNone) {
		return t.base.RoundTrip(r)
	}
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+bearer)
	return t.base.RoundTrip(r)
}

// Revoke ends the login at the provider, if that is possible (RFC 7009).
func (l *Login) Revoke(ctx context.Context) error {
	token := l.Token.RefreshToken
	if l.RevocationURL == "" || token == "" {
		return nil
	}
	form := url.Values{"token": {token}, "token_type_hint": {"refresh_token"}, "client_id": {l.ClientID}}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, l.RevocationURL, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	reply, err := outgoing.Do(r)
	if err != nil {
		return err
	}
	reply.Body.Close()
	if reply.StatusCode >= 300 {
		return fmt.Errorf("%s answered %s", l.Issuer, reply.Status)
	}
	return nil
}
