package exchange

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"agent-stop-and-go/activities/mask"
)

// Settings are a provider and the agent as its client.
type Settings struct {
	// Issuer is the URL of a provider with metadata, TokenURL the token endpoint of one without.
	Issuer, TokenURL string
	ClientID         string
	// Secret or Key authenticates the agent.
	Secret string
	Key    *Key
	// WithoutActor leaves out the actor_token.
	WithoutActor bool
	ActorScopes  []string
	// SubjectType is the type of callers' tokens: the last part of its URN, by default
	// access_token.
	SubjectType string
	// Client reaches the provider. Nil: one with a timeout that follows no redirects.
	Client *http.Client
	// Now is the clock, nil: the system's.
	Now func() time.Time
}

// Provider exchanges tokens. It is safe for concurrent use.
type Provider struct {
	Settings
	actor cache

	mu       sync.Mutex
	endpoint endpoint
}

// endpoint is the token endpoint. InBody is set if it takes the secret in the body only, Audience is
// that of assertions.
type endpoint struct {
	url      string
	inBody   bool
	audience string
}

const (
	grantExchange = "urn:ietf:params:oauth:grant-type:token-exchange"
	tokenType     = "urn:ietf:params:oauth:token-type:"
	typeAccess    = tokenType + "access_token"
)

// requestTimeout limits each request to the provider.
const requestTimeout = 10 * time.Second

// NewProvider returns a provider that is asked when the first token is needed.
func NewProvider(s Settings) *Provider {
	if s.Client == nil {
		stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		s.Client = &http.Client{Timeout: requestTimeout, CheckRedirect: stay}
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	s.SubjectType = cmp.Or(s.SubjectType, "access_token")
	return &Provider{Settings: s, actor: cache{now: s.Now}}
}

// find returns the token endpoint, which the metadata of the issuer name.
func (p *Provider) find(ctx context.Context) (endpoint, error) {
	if p.TokenURL != "" {
		return endpoint{url: p.TokenURL, audience: p.TokenURL}, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.endpoint.url != "" {
		return p.endpoint, nil
	}
	found, err := oidc.NewProvider(oidc.ClientContext(ctx, p.Client), p.Issuer)
	if err != nil {
		return endpoint{}, &awayError{fmt.Errorf("read the metadata of %s: %w", p.Issuer, err)}
	}
	var meta struct {
		Methods []string `json:"token_endpoint_auth_methods_supported"`
	}
	if err := found.Claims(&meta); err != nil || found.Endpoint().TokenURL == "" {
		return endpoint{}, &awayError{errors.Join(fmt.Errorf("the metadata of %s name no token endpoint", p.Issuer), err)}
	}
	p.endpoint = endpoint{
		url: found.Endpoint().TokenURL, audience: p.Issuer,
		inBody: slices.Contains(meta.Methods, "client_secret_post") && !slices.Contains(meta.Methods, "client_secret_basic"),
	}
	return p.endpoint, nil
}

// request asks the token endpoint. The error is a *failure, or an *awayError.
func (p *Provider) request(ctx context.Context, params url.Values, scopes []string, secrets ...string) (issued, error) {
	at, err := p.find(ctx)
	if err != nil {
		return issued{}, err
	}
	c := clientcredentials.Config{ClientID: p.ClientID, TokenURL: at.url, Scopes: scopes, EndpointParams: params, AuthStyle: oauth2.AuthStyleInHeader}
	if p.Key != nil {
		c.AuthStyle = oauth2.AuthStyleInParams
		assertion, err := p.Key.assertion(p.ClientID, at.audience, p.Now())
		if err != nil {
			return issued{}, err
		}
		params.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
		params.Set("client_assertion", assertion)
		secrets = append(secrets, assertion)
	} else if c.ClientSecret = p.Secret; at.inBody {
		c.AuthStyle = oauth2.AuthStyleInParams
	}
	token, err := c.Token(context.WithValue(ctx, oauth2.HTTPClient, p.Client))
	if err != nil {
		return issued{}, explain(err, hidden(append(secrets, p.Secret)...))
	}
	return p.issued(token), nil
}

// hidden masks secrets in what the provider answers.
func hidden(secrets ...string) *mask.Mask {
	var all []mask.Secret
	for _, s := range secrets {
		all = append(all, mask.Bearer(s))
	}
	return mask.New(all...)
}

// actorToken returns the agent's own token.
func (p *Provider) actorToken(ctx context.Context, old string) (string, error) {
	t, err := p.actor.get(ctx, "", old, func(ctx context.Context) (issued, error) {
		return p.request(ctx, url.Values{}, p.ActorScopes)
	})
	return t.bearer, err
}

// exchange exchanges a caller's token for one for a target. An agent's own token that the provider no
// longer accepts is replaced once.
func (p *Provider) exchange(ctx context.Context, subject string, to Target) (issued, error) {
	params := url.Values{
		"grant_type": {grantExchange}, "subject_token": {subject}, "subject_token_type": {tokenType + p.SubjectType},
		"requested_token_type": {typeAccess},
	}
	set(params, "audience", to.Audience)
	set(params, "resource", to.Resource)
	if p.WithoutActor {
		return p.request(ctx, params, to.Scopes, subject)
	}
	actor, err := p.actorToken(ctx, "")
	if err != nil {
		return issued{}, actorFailure(err)
	}
	params.Set("actor_token", actor)
	params.Set("actor_token_type", typeAccess)
	out, err := p.request(ctx, params, to.Scopes, subject, actor)
	if !aboutToken(err) {
		return out, err
	}
	other, again := p.actorToken(ctx, actor)
	if again != nil || other == actor {
		return out, err
	}
	params.Set("actor_token", other)
	return p.request(ctx, params, to.Scopes, subject, other)
}

func set(params url.Values, name, value string) {
	if value != "" {
		params.Set(name, value)
	}
}
