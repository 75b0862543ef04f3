package exchange

import (
	"context"
	"strings"

	"agent-stop-and-go/activities/bearer"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/login"
	"agent-stop-and-go/workflows/credential"
)

// Target is what a token is for.
type Target struct {
	// Audience and Resource name the server at the provider; without both Resource is its URL.
	Audience, Resource string
	Scopes             []string
}

// Source gives the tokens for one server. It implements bearer.Source.
type Source struct {
	provider *Provider
	target   Target
	tokens   cache
}

// Source returns the source of the tokens for a target.
func (p *Provider) Source(to Target) *Source {
	return &Source{provider: p, target: to, tokens: cache{now: p.Now}}
}

// Personal reports that people get a token by logging in.
func (s *Source) Personal() bool { return true }

// Token implements bearer.Source.
func (s *Source) Token(ctx context.Context, r bearer.Request) (credential.Token, error) {
	if r.Caller.Bearer == "" {
		return credential.Token{}, &bearer.LoginRequired{Server: r.Server.Name, Way: login.AtAgent, Reason: "there is no valid token of the caller to exchange"}
	}
	old := ""
	switch {
	case r.Refusal == nil:
	case r.Refusal.NeedsScope():
		return credential.Token{}, &bearer.Refused{Server: r.Server.Name, Reason: "it wants a scope that the token does not have; add it to exchange.scopes"}
	case r.Refusal.Again:
		return credential.Token{}, notAccepted(r.Server.Name)
	default:
		old = r.Refusal.Token.Bearer
	}
	to := s.target
	if to.Audience == "" && to.Resource == "" {
		to.Resource = r.Server.URL
	}
	key := contract.Hash([]byte(r.Caller.Bearer))
	t, err := s.tokens.get(ctx, key, old, func(ctx context.Context) (issued, error) {
		t, err := s.provider.exchange(ctx, r.Caller.Bearer, to)
		if err == nil {
			err = t.check()
		}
		return t, err
	})
	if err != nil {
		return credential.Token{}, forCall(err, r.Server.Name)
	}
	if old != "" && t.bearer == old { // the provider gives no other
		return credential.Token{}, notAccepted(r.Server.Name)
	}
	return credential.Token{Bearer: t.bearer, ExpiresAt: t.until}, nil
}

// notAccepted is the error of a server that accepts no token that the provider issues for the
// caller.
func notAccepted(server string) error {
	return &bearer.LoginRequired{Server: server, Way: login.AtAgent, Reason: "it does not accept the token that the provider issues for the caller"}
}

// check fails if the provider issued something that is no bearer token (RFC 8693 §2.2.1).
func (t issued) check() error {
	switch {
	case t.kind == "":
		return &failure{code: "invalid_response", text: "the provider does not say what it issued: it may not know token exchange"}
	case !strings.EqualFold(t.scheme, "Bearer"):
		return &failure{code: "invalid_response", text: "the provider issued a token that is no bearer token"}
	}
	return nil
}
