package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// How a client proves at the token endpoint who it is.
const (
	byBasic = "client_secret_basic"
	byPost  = "client_secret_post"
	byKey   = "private_key_jwt"
	byNone  = "none"
)

// client is what the agent is at an authorization server.
type client struct {
	ID     string `json:"id,omitempty"`
	Secret string `json:"secret,omitempty"`
	// Method is how it proves that, Algorithms are those of keys that the server knows.
	Method     string   `json:"method,omitempty"`
	Algorithms []string `json:"algorithms,omitempty"`
	// Expires is when the registration ends.
	Expires time.Time `json:"expires,omitzero"`
}

var errUnregistered = errors.New("the authorization server registers no clients itself: register the agent there, and set its client_id")

// clientAt returns the agent's client at an authorization server, which it registers if it must.
func (c *Client) clientAt(ctx context.Context, p place) (client, error) {
	switch {
	case c.server.ClientID != "":
		return c.configuredClient(p)
	case p.ClientIDMetadataDocumentSupported && c.metadataURL != "":
		return client{ID: c.metadataURL, Method: byNone}, nil
	case p.RegistrationEndpoint == "":
		return client{}, errUnregistered
	case c.redirectURL == "":
		return client{}, errNoAddress
	}
	name := c.registrationName(p.Issuer)
	var known client
	if err := c.load(ctx, name, &known); err != nil {
		return client{}, err
	}
	if known.ID != "" && (known.Expires.IsZero() || c.now().Before(known.Expires)) {
		return known, nil
	}
	fresh, err := c.register(ctx, p)
	if err != nil {
		return client{}, fmt.Errorf("register at %s: %w", quote(p.Issuer), err)
	}
	return fresh, c.save(ctx, name, fresh)
}

// unregister forgets the agent's registration at an authorization server, which may have
// forgotten it too.
func (c *Client) unregister(ctx context.Context, issuer string) error {
	if c.server.ClientID != "" || issuer == "" {
		return nil
	}
	return c.save(ctx, c.registrationName(issuer), client{})
}

func (c *Client) registrationName(issuer string) string {
	return recordName("registration", c.agent, issuer, c.redirectURL)
}

// configuredClient is the client in the settings. A secret is sent as the server wants it.
func (c *Client) configuredClient(p place) (client, error) {
	out := client{ID: c.server.ClientID, Secret: c.server.Secret, Algorithms: p.TokenEndpointAuthSigningAlgValuesSupported}
	switch {
	case c.signer != nil:
		out.Method = byKey
	case c.server.Secret == "":
		out.Method = byNone
	default:
		out.Method = secretMethod(p.TokenEndpointAuthMethodsSupported)
	}
	if out.Method == "" {
		return client{}, fmt.Errorf("the authorization server %s accepts no client secrets", quote(p.Issuer))
	}
	return out, nil
}

// secretMethod returns how a secret is sent to a server that supports these methods, or "".
// Without any the standard says Basic.
func secretMethod(supported []string) string {
	switch {
	case len(supported) == 0 || slices.Contains(supported, byBasic):
		return byBasic
	case slices.Contains(supported, byPost):
		return byPost
	}
	return ""
}

// register registers the agent.
func (c *Client) register(ctx context.Context, p place) (client, error) {
	method := secretMethod(p.TokenEndpointAuthMethodsSupported)
	if method == "" {
		method = byNone
	}
	answer, err := oauthex.RegisterClient(ctx, p.RegistrationEndpoint, c.metadata(method), c.sender)
	var refused *oauthex.ClientRegistrationError
	switch {
	case errors.As(err, &refused):
		return client{}, fmt.Errorf("refused: %s", quote(refused.ErrorCode+" "+refused.ErrorDescription))
	case err != nil:
		return client{}, errors.New("refused") // the error quotes the body
	}
	out := client{ID: answer.ClientID, Secret: answer.ClientSecret, Method: answer.TokenEndpointAuthMethod, Expires: answer.ClientSecretExpiresAt}
	switch {
	case out.Secret == "":
		out.Method = byNone
	case out.Method != byPost && out.Method != byBasic:
		out.Method = method
	}
	if out.Secret != "" && out.Method == byNone {
		out.Method = byBasic
	}
	return out, nil
}

// metadata describes the agent as a client. It is also the gateway's client metadata document.
func (c *Client) metadata(method string) *ClientMetadata {
	m := Metadata(c.agent, c.redirectURL)
	m.TokenEndpointAuthMethod = method
	return &m
}

// ClientMetadata describes a client (RFC 7591).
type ClientMetadata = oauthex.ClientRegistrationMetadata

// Metadata describes an agent as a client with one address of redirection.
func Metadata(agent, redirectURL string) ClientMetadata {
	kind := "web"
	if u, err := url.Parse(redirectURL); err == nil && loopback(u) {
		kind = "native"
	}
	return ClientMetadata{
		RedirectURIs: []string{redirectURL}, ClientName: agent, ApplicationType: kind, TokenEndpointAuthMethod: byNone,
		GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
	}
}
