package oauth

import (
	"crypto"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"agent-stop-and-go/activities/outbound"
	"agent-stop-and-go/workflows/contract/network"
)

// Grant is the way in which a token is obtained.
type Grant string

// The grants.
const (
	AuthorizationCode Grant = "authorization_code"
	ClientCredentials Grant = "client_credentials"
)

// Settings describe a protected server, and the client that the agent is there.
type Settings struct {
	// Name identifies the server in the configuration, URL is its address and the resource that
	// tokens are for.
	Name, URL string
	// Issuer is the authorization server. Without it the server's metadata names it, and then
	// the secret goes wherever they say.
	Issuer string
	// Grant is AuthorizationCode if it is empty.
	Grant Grant
	// ClientID is that of a client that was registered before; Secret or Key, a private key in
	// PEM, authenticates it. Without ClientID the agent registers itself.
	ClientID, Secret, Key string
	// KeyID names Key in the assertions that it signs; it may be empty.
	KeyID string
	// Scopes are requested if the server names none, and are the only ones that it can name. Nil
	// leaves both to the server.
	Scopes []string
	// PerCaller gives each caller a token of its own. Without it the agent has one token.
	PerCaller bool
}

// check reports what is wrong with the settings, and parses the key.
func (s Settings) check() (crypto.Signer, error) {
	u, err := url.Parse(s.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("the server has no http or https URL")
	}
	switch s.Grant {
	case "", AuthorizationCode:
	case ClientCredentials:
		if s.ClientID == "" || s.Secret == "" && s.Key == "" {
			return nil, errors.New("client credentials are a client ID and its secret or key")
		}
	default:
		return nil, fmt.Errorf("unknown grant %q", s.Grant)
	}
	if s.Key == "" {
		return nil, nil
	}
	return parseKey(s.Key)
}

// resource is the URL of the server as tokens name it: without a fragment.
func (s Settings) resource() string {
	address, _, _ := strings.Cut(s.URL, "#")
	return address
}

// scopesFor returns the scopes to request when the server names some. It fails if the settings
// do not allow one of them.
func (s Settings) scopesFor(named []string) ([]string, error) {
	if s.Scopes == nil {
		return named, nil
	}
	if len(named) == 0 {
		return s.Scopes, nil
	}
	for _, scope := range named {
		if !slices.Contains(s.Scopes, scope) {
			return nil, fmt.Errorf("the server demands the scope %s, which the settings of the agent do not list", quote(scope))
		}
	}
	return named, nil
}

// trusted are the addresses that the operator has configured.
func (s Settings) trusted() []string { return []string{s.URL, s.Issuer} }

// client makes an HTTP client that follows so many redirects, and reaches what the operator has
// configured, the Internet, and this machine if the server is on it.
func (s Settings) client(redirects int) *http.Client {
	o := outbound.Options{Trusted: s.trusted(), Redirects: redirects}
	if u, err := url.Parse(s.URL); err == nil && loopback(u) {
		o.Reach = network.ReachLoopback
	}
	return outbound.Client(o)
}

var errAddress = errors.New("not an acceptable address")

// checkAddress accepts an address that others have chosen, if nobody on the way can read or
// change what is exchanged with it.
func (s Settings) checkAddress(what, raw string) error {
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.Fragment != "":
		return fmt.Errorf("%s: %w", what, errAddress)
	case u.Scheme == "https", u.Scheme == "http" && (loopback(u) || s.configured(u)):
		return nil
	}
	return fmt.Errorf("%s: %w: https is required", what, errAddress)
}

// configured reports whether an address has the host of one that the operator has configured
// with http.
func (s Settings) configured(u *url.URL) bool {
	return slices.ContainsFunc(s.trusted(), func(raw string) bool {
		own, err := url.Parse(raw)
		return err == nil && own.Scheme == "http" && outbound.SameHost(own, u)
	})
}

// loopback reports whether an address is literally on this machine.
func loopback(u *url.URL) bool {
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && ip.Unmap().IsLoopback()
}
