package worker

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"agent-stop-and-go/activities/bearer"
	"agent-stop-and-go/activities/bearer/exchange"
	"agent-stop-and-go/activities/oauth"
	"agent-stop-and-go/config"
	"agent-stop-and-go/config/secrets"
	"agent-stop-and-go/worker/accounts"
	"agent-stop-and-go/workflows/credential"
)

// metadataTimeout limits the reading of a server's metadata.
const metadataTimeout = 10 * time.Second

// newBearers returns the sources of the tokens that calls carry. Without the provider that exchanges
// tokens its servers are not called, and problem says why.
func newBearers(c *config.Config, own *accounts.Accounts, getenv func(string) string) (book *bearer.Book, problem error) {
	b := &bearerSources{config: c, metadata: &http.Client{
		Timeout:       metadataTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	b.provider, b.problem = newProvider(c.TokenExchange, getenv)
	book = &bearer.Book{}
	if c.Credential("") == config.CredentialForward { // an agent that conversations began with, and that is not configured any more
		book.Default = bearer.Forward{}
	}
	for _, s := range c.MCPServers {
		source := b.source(s.Credential, s.Exchange)
		if c.Credential(s.Credential) == config.CredentialOwn && s.Own.Logins() {
			source = ownSource(own.Server(s.Name), own.Problem(s.Own))
		}
		book.Add(bearer.Server{Name: s.Name, URL: s.URL}, source)
	}
	for _, a := range c.Delegates() {
		source := b.source(a.Credential, a.Exchange)
		if c.Credential(a.Credential) == config.CredentialOwn {
			source = ownSource(own.Agent(a.Name), own.Problem(a.Own))
		}
		book.Add(bearer.Server{Name: a.Name, URL: a.URL, Agent: true}, source)
	}
	return book, b.problem
}

// ownSource returns the source of the tokens of a client, or of none because of a problem.
func ownSource(client *oauth.Client, problem string) bearer.Source {
	if problem != "" {
		return withoutToken(problem)
	}
	return oauth.Source{Client: client}
}

// bearerSources makes the sources of servers.
type bearerSources struct {
	config   *config.Config
	metadata *http.Client
	provider *exchange.Provider
	problem  error // why there is no provider
}

// source returns the source of a server with a setting, or nil if it gets no token of a caller.
func (b *bearerSources) source(setting string, to *config.Exchange) bearer.Source {
	switch b.config.Credential(setting) {
	case config.CredentialForward:
		if setting == "" {
			return bearer.Forward{}
		}
		return &bearer.Guarded{Client: b.metadata, Now: time.Now}
	case config.CredentialExchange:
		return b.exchanged(to)
	}
	return nil
}

// exchanged returns the source of a server for which tokens are exchanged.
func (b *bearerSources) exchanged(to *config.Exchange) bearer.Source {
	if b.problem != nil {
		return withoutToken(b.problem.Error())
	}
	if to == nil {
		to = &config.Exchange{}
	}
	return b.provider.Source(exchange.Target{Audience: to.Audience, Resource: to.Resource, Scopes: to.Scopes})
}

// newProvider returns the provider that exchanges tokens, or nil if there is none.
func newProvider(x *config.TokenExchange, getenv func(string) string) (*exchange.Provider, error) {
	if x == nil {
		return nil, nil
	}
	s := exchange.Settings{
		Issuer: x.Issuer, TokenURL: x.TokenURL, ClientID: x.ClientID, WithoutActor: x.ActorToken == config.ActorNone,
		ActorScopes: x.ActorScopes, SubjectType: x.SubjectToken,
	}
	if x.PrivateKey == "" {
		secret, err := secrets.Read(x.ClientSecret, getenv)
		if err != nil {
			return nil, fmt.Errorf("token_exchange.client_secret: %w", err)
		}
		s.Secret = secret
		return exchange.NewProvider(s), nil
	}
	text, err := secrets.Read(x.PrivateKey, getenv)
	if err == nil {
		s.Key, err = exchange.ParseKey(text, x.KeyID)
	}
	if err != nil {
		return nil, fmt.Errorf("token_exchange.private_key: %w", err)
	}
	return exchange.NewProvider(s), nil
}

// withoutToken is the source of a server that no token can be got for, for this reason.
type withoutToken string

// Token implements bearer.Source.
func (w withoutToken) Token(_ context.Context, r bearer.Request) (credential.Token, error) {
	return credential.Token{}, &bearer.Refused{Server: r.Server.Name, Reason: string(w)}
}
