package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"agent-stop-and-go/activities/outbound"
)

// maxMetadata bounds the bytes of a metadata document.
const maxMetadata = 256 << 10

// place is where tokens for a server are obtained.
type place struct {
	oauthex.AuthServerMeta
	// Resource identifies the server in requests, Offered are the scopes it has.
	Resource string
	Offered  []string
	// Metadata is where the metadata of the server are, if it has said so.
	Metadata string
}

// errNone is the error of a document that does not exist.
var errNone = errors.New("there is none")

// discover finds the authorization server that a refusal leads to.
func (c *Client) discover(ctx context.Context, r Refusal) (place, error) {
	p := place{Resource: c.server.resource(), Metadata: r.Metadata}
	server, err := c.serverMetadata(ctx, r)
	issuer := c.server.Issuer
	switch {
	case errors.Is(err, errNone):
		return c.withoutMetadata(ctx, p)
	case err != nil:
		return place{}, fmt.Errorf("metadata of the server: %w", err)
	case issuer == "":
		issuer = server.AuthorizationServers[0]
	case !slices.ContainsFunc(server.AuthorizationServers, func(one string) bool { return sameIssuer(one, issuer) }):
		return place{}, fmt.Errorf("the server names another authorization server than the agent's settings: %s", quote(server.AuthorizationServers[0]))
	}
	p.Resource, p.Offered = server.Resource, server.ScopesSupported
	p.AuthServerMeta, err = c.issuerMetadata(ctx, issuer, sameIssuer)
	if errors.Is(err, errNone) {
		err = errors.New("it has none at the addresses of RFC 8414 and OpenID Connect Discovery")
	}
	if err != nil {
		return place{}, fmt.Errorf("metadata of the authorization server %s: %w", quote(issuer), err)
	}
	return p, nil
}

// withoutMetadata finds the authorization server of a server that has no metadata: the
// configured one, or else the server itself, as in MCP 2025-03-26.
func (c *Client) withoutMetadata(ctx context.Context, p place) (out place, err error) {
	issuer := c.server.Issuer
	if issuer != "" {
		p.AuthServerMeta, err = c.issuerMetadata(ctx, issuer, sameIssuer)
	} else {
		u, _ := url.Parse(c.server.URL)
		issuer = u.Scheme + "://" + u.Host
		p.AuthServerMeta, err = c.issuerMetadata(ctx, issuer, sameOrigin)
		if errors.Is(err, errNone) {
			p.AuthServerMeta, err = fixedEndpoints(issuer), nil
		}
	}
	if err != nil {
		return place{}, fmt.Errorf("metadata of the authorization server %s: %w", quote(issuer), err)
	}
	return p, nil
}

// fixedEndpoints are those of a server without any metadata.
func fixedEndpoints(root string) oauthex.AuthServerMeta {
	return oauthex.AuthServerMeta{
		Issuer: root, AuthorizationEndpoint: root + "/authorize", TokenEndpoint: root + "/token",
		RegistrationEndpoint: root + "/register", CodeChallengeMethodsSupported: []string{"S256"},
	}
}

// sameIssuer reports whether two issuers are the same, apart from a slash at the end.
func sameIssuer(a, b string) bool { return strings.TrimSuffix(a, "/") == strings.TrimSuffix(b, "/") }

// sameOrigin reports whether two addresses have the same scheme and host.
func sameOrigin(a, b string) bool {
	u, err := url.Parse(a)
	v, err2 := url.Parse(b)
	return err == nil && err2 == nil && u.Scheme == v.Scheme && outbound.SameHost(u, v)
}

// serverMetadata reads the metadata of the server from where the refusal says, or else from the
// well-known addresses.
func (c *Client) serverMetadata(ctx context.Context, r Refusal) (*oauthex.ProtectedResourceMetadata, error) {
	if r.Metadata != "" {
		return c.serverMetadataAt(ctx, r.Metadata, c.server.resource())
	}
	u, err := url.Parse(c.server.resource())
	if err != nil {
		return nil, err
	}
	root := url.URL{Scheme: u.Scheme, Host: u.Host}
	if path := strings.Trim(u.Path, "/"); path != "" {
		at := root
		at.Path = "/.well-known/oauth-protected-resource/" + path
		if m, err := c.serverMetadataAt(ctx, at.String(), c.server.resource()); !errors.Is(err, errNone) {
			return m, err
		}
	}
	at := root
	at.Path = "/.well-known/oauth-protected-resource"
	return c.serverMetadataAt(ctx, at.String(), c.server.resource(), root.String())
}

// serverMetadataAt reads metadata that must be about one of the resources.
func (c *Client) serverMetadataAt(ctx context.Context, at string, resources ...string) (*oauthex.ProtectedResourceMetadata, error) {
	var m oauthex.ProtectedResourceMetadata
	if err := c.readJSON(ctx, at, &m); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(resources, func(one string) bool { return sameIssuer(one, m.Resource) }) {
		return nil, fmt.Errorf("they are about another server, %s", quote(m.Resource))
	}
	if len(m.AuthorizationServers) == 0 {
		return nil, errors.New("they name no authorization server")
	}
	for _, issuer := range m.AuthorizationServers {
		if err := c.server.checkAddress("authorization_servers", issuer); err != nil {
			return nil, err
		}
	}
	return &m, nil
}

// issuerMetadata reads the metadata of an authorization server. fits reports whether those of
// one issuer may be used for another.
func (c *Client) issuerMetadata(ctx context.Context, issuer string, fits func(a, b string) bool) (oauthex.AuthServerMeta, error) {
	for _, at := range metadataAddresses(issuer) {
		var m oauthex.AuthServerMeta
		err := c.readJSON(ctx, at, &m)
		if errors.Is(err, errNone) {
			continue
		}
		if err == nil {
			err = c.checkMetadata(m)
		}
		if err == nil && !fits(m.Issuer, issuer) {
			err = fmt.Errorf("they are about another one, %s", quote(m.Issuer))
		}
		return m, err
	}
	return oauthex.AuthServerMeta{}, errNone
}

// metadataAddresses are where RFC 8414 and OpenID Connect Discovery put the metadata.
func metadataAddresses(issuer string) []string {
	u, err := url.Parse(issuer)
	if err != nil {
		return nil
	}
	path := strings.Trim(u.Path, "/")
	at := func(path string) string { return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: path}).String() }
	if path == "" {
		return []string{at("/.well-known/oauth-authorization-server"), at("/.well-known/openid-configuration")}
	}
	return []string{
		at("/.well-known/oauth-authorization-server/" + path), at("/.well-known/openid-configuration/" + path),
		at("/" + path + "/.well-known/openid-configuration"),
	}
}

// checkMetadata accepts metadata that lead to acceptable addresses.
func (c *Client) checkMetadata(m oauthex.AuthServerMeta) error {
	if err := c.server.checkAddress("token_endpoint", m.TokenEndpoint); err != nil {
		return err
	}
	optional := map[string]string{"authorization_endpoint": m.AuthorizationEndpoint, "registration_endpoint": m.RegistrationEndpoint}
	for what, address := range optional {
		if err := c.server.checkAddress(what, address); address != "" && err != nil {
			return err
		}
	}
	return nil
}

// readJSON reads a document. It fails with errNone if the other side refuses to have it.
func (c *Client) readJSON(ctx context.Context, at string, into any) error {
	if err := c.server.checkAddress("address", at); err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return errAddress
	}
	req.Header.Set("Accept", "application/json")
	resp, err := c.reader.Do(req)
	if err != nil {
		return requestError(err)
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode/100 == 4:
		return errNone
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("answered %d", resp.StatusCode)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxMetadata+1))
	switch {
	case err != nil:
		return requestError(err)
	case len(data) > maxMetadata:
		return fmt.Errorf("larger than %d KiB", maxMetadata>>10)
	}
	if err := json.Unmarshal(data, into); err != nil {
		return errors.New("not the JSON of metadata")
	}
	return nil
}

// requestError describes a failed request without its address, which others have chosen.
func requestError(err error) error {
	var failed *url.Error
	if errors.As(err, &failed) {
		return failed.Err
	}
	return err
}
