package login

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"agent-stop-and-go/gateway/client"
)

// Prompt shows a person where to log in, and with which code.
type Prompt func(*oauth2.DeviceAuthResponse)

// outgoing is the client that reaches providers.
var outgoing = &http.Client{Timeout: 30 * time.Second}

// Device logs in at the provider of an agent. It waits until a person has, or the code has expired.
func Device(ctx context.Context, agentURL string, m client.Method, show Prompt) (*Login, error) {
	if err := checkIssuer(m.Issuer); err != nil {
		return nil, err
	}
	ctx = oidc.ClientContext(ctx, outgoing)
	provider, err := oidc.NewProvider(ctx, m.Issuer)
	if err != nil {
		return nil, fmt.Errorf("ask %s how to log in: %w", m.Issuer, err)
	}
	var found struct {
		Revocation string   `json:"revocation_endpoint"`
		Scopes     []string `json:"scopes_supported"`
	}
	if err := provider.Claims(&found); err != nil {
		return nil, err
	}
	c := oauth2.Config{ClientID: m.Device.ClientID, Endpoint: provider.Endpoint(), Scopes: m.Device.Scopes}
	c.Endpoint.AuthStyle = oauth2.AuthStyleInParams // a public client has no secret
	if c.Endpoint.DeviceAuthURL == "" {
		return nil, fmt.Errorf("%s has no logins for devices: send a key instead (--key)", m.Issuer)
	}
	if len(c.Scopes) == 0 {
		c.Scopes = scopes(found.Scopes)
	}
	code, err := c.DeviceAuth(ctx, audience(m.Audience)...)
	if err != nil {
		return nil, fmt.Errorf("begin a login at %s: %w", m.Issuer, shorten(err))
	}
	show(code)
	token, err := c.DeviceAccessToken(ctx, code)
	if err != nil {
		return nil, fmt.Errorf("log in at %s: %w", m.Issuer, shorten(err))
	}
	l := &Login{URL: agentURL, Issuer: m.Issuer, Audience: m.Audience, ClientID: m.Device.ClientID, TokenURL: c.Endpoint.TokenURL, RevocationURL: found.Revocation}
	l.take(token)
	if l.bearer() == "" {
		return nil, fmt.Errorf("%s has given no token for %s: have it put %s into the audience of the tokens of its client %s", m.Issuer, agentURL, m.Audience, m.Device.ClientID)
	}
	return l, nil
}

// checkIssuer refuses a provider whose answers anybody on the way could forge.
func checkIssuer(issuer string) error {
	u, err := url.Parse(issuer)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return fmt.Errorf("%q is not the URL of a provider", issuer)
	}
	ip := net.ParseIP(u.Hostname())
	if u.Scheme == "http" && u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("%s: a login needs https", issuer)
	}
	return nil
}

// scopes are openid and the usual ones that the provider lists.
func scopes(listed []string) []string {
	usual := slices.DeleteFunc([]string{"offline_access", "profile", "email", "groups"}, func(s string) bool { return !slices.Contains(listed, s) })
	return append([]string{"openid"}, usual...)
}

// audience asks for a token for the agent: some providers know audience, others resource (RFC 8707), which
// is a URI.
func audience(name string) []oauth2.AuthCodeOption {
	options := []oauth2.AuthCodeOption{oauth2.SetAuthURLParam("audience", name)}
	if u, err := url.Parse(name); err == nil && u.Scheme != "" {
		options = append(options, oauth2.SetAuthURLParam("resource", name))
	}
	return options
}

// shorten leaves the answer of the provider out of an error, unless it is a known one.
func shorten(err error) error {
	var answer *oauth2.RetrieveError
	if errors.As(err, &answer) && answer.ErrorCode != "" {
		return errors.New(strings.TrimSpace(answer.ErrorCode + " " + answer.ErrorDescription))
	}
	return err
}

// take keeps a token. A provider may leave out what has not changed.
func (l *Login) take(token *oauth2.Token) {
	if id, _ := token.Extra("id_token").(string); id != "" {
		l.IDToken = id
	}
	l.Token = token
}

// bearer returns the token that the agent accepts, or "": the access token if it is for the
// agent, otherwise the ID token.
func (l *Login) bearer() string {
	for _, token := range []string{l.Token.AccessToken, l.IDToken} {
		if slices.Contains(claimsOf(token).Audience, l.Audience) {
			return token
		}
	}
	return ""
}

// claims are what matters of a token here. The agent verifies it.
type claims struct {
	Audience texts `json:"aud"`
	Expires  int64 `json:"exp"`
}

func claimsOf(token string) (c claims) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return c
	}
	if payload, err := base64.RawURLEncoding.DecodeString(parts[1]); err == nil {
		_ = json.Unmarshal(payload, &c) // what cannot be read is for nobody
	}
	return c
}

// texts is a text or a list of texts.
type texts []string

// UnmarshalJSON implements json.Unmarshaler.
func (t *texts) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*t = texts{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(t))
}
