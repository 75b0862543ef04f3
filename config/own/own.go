// Package own has the settings of an agent that is an OAuth client of its tool servers and of
// other agents.
package own

import (
	"cmp"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"agent-stop-and-go/config/secrets"
)

// Values of grant.
const (
	ClientCredentials = "client_credentials"
	AuthorizationCode = "authorization_code"
)

// Values of per.
const (
	PerCaller = "caller"
	PerAgent  = "agent"
)

// Client is the agent as a client of one server.
type Client struct {
	Grant        string   `yaml:"grant" jsonschema:"default=client_credentials,enum=client_credentials,enum=authorization_code" jsonschema_description:"How the agent gets a token. client_credentials: by its own secret or key. authorization_code: a person logs in to the server; a call that needs a login waits for it."`
	Per          string   `yaml:"per" jsonschema:"enum=caller,enum=agent" jsonschema_description:"grant: authorization_code: whose the login is. caller: each caller logs in, and calls use the login of whoever sent the message. agent: one login serves everybody who uses the agent. The default is caller, and without auth agent."`
	Issuer       string   `yaml:"issuer" jsonschema_description:"The URL of the authorization server. Required if there is a secret or a key, which go to no other; without it the server's metadata name it. It must be https, or of this machine."`
	ClientID     string   `yaml:"client_id" jsonschema_description:"The agent's name there. Required for client_credentials; otherwise the agent without one registers itself."`
	ClientSecret string   `yaml:"client_secret" jsonschema_description:"The agent's secret there, as ${NAME} or file:PATH. client_credentials needs either this or private_key."`
	PrivateKey   string   `yaml:"private_key" jsonschema_description:"The agent's private key as file:PATH, in PEM. It signs the assertions by which the agent authenticates (private_key_jwt)."`
	KeyID        string   `yaml:"key_id" jsonschema_description:"The ID of the private key at the authorization server (kid)."`
	Scopes       []string `yaml:"scopes" jsonschema_description:"The scopes that the agent asks for, and the only ones that the server can make it ask for. Without the key the server decides."`
}

// Place is what the settings depend on of the agent.
type Place struct {
	// Auth reports whether callers prove who they are.
	Auth bool
	// Base is the URL at which people reach the agent; "" if nothing says so.
	Base string
}

// At returns the place of an agent. People reach it at its public URL or, if it listens on this
// machine only, there.
func At(auth bool, public, host string, port int) Place {
	switch {
	case public != "":
		return Place{auth, strings.TrimRight(public, "/")}
	case local(host):
		return Place{auth, "http://" + net.JoinHostPort(host, strconv.Itoa(port))}
	}
	return Place{Auth: auth}
}

// Logins reports whether people log in to the server.
func (c Client) Logins() bool { return c.Grant == AuthorizationCode }

// OfCallers reports whether each caller has a login of its own.
func (c Client) OfCallers(at Place) bool {
	byDefault := PerAgent
	if at.Auth {
		byDefault = PerCaller
	}
	return c.Logins() && cmp.Or(c.Per, byDefault) == PerCaller
}

// Check reports what is wrong with the settings of a server, by their keys.
func (c Client) Check(at Place, report func(key, problem string)) {
	secret := c.ClientSecret != "" || c.PrivateKey != ""
	switch {
	case !c.Logins() && c.Grant != "" && c.Grant != ClientCredentials:
		report("grant", "must be "+ClientCredentials+" or "+AuthorizationCode)
	case c.Logins():
		c.checkLogins(at, report)
	case c.Per != "":
		report("per", "is for grant: authorization_code; a token by client_credentials is always the agent's")
	}
	c.checkIssuer(!c.Logins() || secret, report)
	if c.ClientID == "" && (!c.Logins() || secret) {
		report("client_id", "is required")
	}
	c.checkSecrets(report)
}

// checkLogins checks what only the logins of people need.
func (c Client) checkLogins(at Place, report func(key, problem string)) {
	switch c.Per {
	case "", PerAgent:
	case PerCaller:
		if !at.Auth {
			report("per", "caller needs auth: nothing proves who calls; write per: agent for one login that serves everybody")
		}
	default:
		report("per", "must be caller or agent")
	}
	if at.Base == "" {
		report("grant", "authorization_code needs public_url: the provider sends people back there after the login")
	}
}

func (c Client) checkIssuer(required bool, report func(key, problem string)) {
	u, err := url.Parse(c.Issuer)
	switch {
	case c.Issuer == "" && required:
		report("issuer", "is required")
	case c.Issuer == "":
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		report("issuer", "must be an https URL")
	case u.Scheme == "http" && !local(u.Hostname()):
		report("issuer", "must be https: over http, whoever is on the way to it can read the secret")
	}
}

func (c Client) checkSecrets(report func(key, problem string)) {
	both, none := c.ClientSecret != "" && c.PrivateKey != "", c.ClientSecret == "" && c.PrivateKey == ""
	switch {
	case both, none && !c.Logins():
		report("", "needs client_secret or private_key, and only one of them")
	case c.ClientSecret != "" && !secrets.IsReference(c.ClientSecret) && !isFile(c.ClientSecret):
		report("client_secret", "secrets do not belong in this file; write ${NAME} and set it in the agent's environment, or file:PATH")
	case c.PrivateKey != "" && !isFile(c.PrivateKey):
		report("private_key", "must be file:PATH; keys do not belong in this file")
	}
}

// Secret returns the secret or the private key; both are empty if there is none.
func (c Client) Secret(getenv func(string) string) (secret, key string, err error) {
	if c.PrivateKey == "" && c.ClientSecret == "" {
		return "", "", nil
	}
	if c.PrivateKey != "" {
		key, err = secrets.Read(c.PrivateKey, getenv)
		return "", key, err
	}
	secret, err = secrets.Read(c.ClientSecret, getenv)
	return secret, "", err
}

func isFile(value string) bool { return len(value) > len("file:") && strings.HasPrefix(value, "file:") }

// local reports whether a host is literally this machine.
func local(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}
