package credential

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// source gets tokens by client credentials (RFC 6749 §4.4) and keeps the last one.
type source struct {
	config clientcredentials.Config

	mu     sync.Mutex
	tokens oauth2.TokenSource // nil before the first token, and after the API refused one
	latest [2]string          // tokens that may be in responses: the current one and the one before
}

func (k *Keeper) source(scheme string, scopes []string) *source {
	k.mu.Lock()
	defer k.mu.Unlock()
	key := scheme + "\n" + strings.Join(scopes, " ")
	s := k.tokens[key]
	if s == nil {
		id, secret, _ := strings.Cut(k.values[scheme], ":")
		s = &source{config: clientcredentials.Config{ClientID: id, ClientSecret: secret, TokenURL: flowOf(k.schemes[scheme]).TokenURL, Scopes: scopes}}
		k.tokens[key] = s
	}
	return s
}

func (s *source) token(ctx context.Context, client *http.Client) (string, error) {
	s.mu.Lock()
	if s.tokens == nil {
		// Tokens outlive the call, so its context only lends the values.
		s.tokens = s.config.TokenSource(context.WithValue(context.WithoutCancel(ctx), oauth2.HTTPClient, client))
	}
	tokens := s.tokens
	s.mu.Unlock()
	token, err := tokens.Token()
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if token.AccessToken != s.latest[0] {
		s.latest = [2]string{token.AccessToken, s.latest[0]}
	}
	return token.AccessToken, nil
}

// Grant has the credentials of a call.
type Grant struct {
	keeper  *Keeper
	bearers map[string]string  // by scheme
	got     map[*source]string // tokens that were got by client credentials
}

// Authorize adds the credentials to the header and the query.
func (g *Grant) Authorize(header http.Header, query url.Values) {
	for scheme, bearer := range g.bearers {
		g.keeper.put(g.keeper.schemes[scheme], g.keeper.values[scheme], bearer, header, query)
	}
}

// Refused notes that the API did not take the tokens, and reports whether the next call gets others: tokens
// may end before the time that they were given, and some are given none.
func (g *Grant) Refused() bool {
	for s, token := range g.got {
		s.mu.Lock()
		if s.latest[0] == token {
			s.tokens = nil
		}
		s.mu.Unlock()
	}
	return len(g.got) > 0
}
