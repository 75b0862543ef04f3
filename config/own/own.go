// Package own has the settings of an agent that is an OAuth client of its tool servers and of
// other agents.
package own

import (
	"net/url"
	"strings"

	"agent-stop-and-go/config/secrets"
)

// Client is the agent as a client of one server.
type Client struct {
	Issuer       string   `yaml:"issuer" jsonschema_description:"The URL of the authorization server. Required: the secret goes to no other. It must be https, or of this machine."`
	ClientID     string   `yaml:"client_id" jsonschema_description:"The agent's name there. Required."`
	ClientSecret string   `yaml:"client_secret" jsonschema_description:"The agent's secret there, as ${NAME} or file:PATH. Either this or private_key."`
	PrivateKey   string   `yaml:"private_key" jsonschema_description:"The agent's private key as file:PATH, in PEM. It signs the assertions by which the agent authenticates (private_key_jwt)."`
	KeyID        string   `yaml:"key_id" jsonschema_description:"The ID of the private key at the authorization server (kid)."`
	Scopes       []string `yaml:"scopes" jsonschema_description:"The scopes that the agent asks for, and the only ones that the server can make it ask for. Without the key the server decides."`
}

// Check reports what is wrong with the settings of a server, by their keys.
func (c Client) Check(report func(key, problem string)) {
	u, err := url.Parse(c.Issuer)
	switch {
	case c.Issuer == "":
		report("issuer", "is required")
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		report("issuer", "must be an https URL")
	case u.Scheme == "http" && !local(u.Hostname()):
		report("issuer", "must be https: over http, whoever is on the way to it can read the secret")
	}
	if c.ClientID == "" {
		report("client_id", "is required")
	}
	switch {
	case (c.ClientSecret == "") == (c.PrivateKey == ""):
		report("", "needs client_secret or private_key, and only one of them")
	case c.ClientSecret != "" && !secrets.IsReference(c.ClientSecret) && !isFile(c.ClientSecret):
		report("client_secret", "secrets do not belong in this file; write ${NAME} and set it in the agent's environment, or file:PATH")
	case c.PrivateKey != "" && !isFile(c.PrivateKey):
		report("private_key", "must be file:PATH; keys do not belong in this file")
	}
}

// Secret returns the secret or the private key.
func (c Client) Secret(getenv func(string) string) (secret, key string, err error) {
	if c.PrivateKey != "" {
		key, err = secrets.Read(c.PrivateKey, getenv)
		return "", key, err
	}
	secret, err = secrets.Read(c.ClientSecret, getenv)
	return secret, "", err
}

func isFile(value string) bool { return len(value) > len("file:") && strings.HasPrefix(value, "file:") }

func local(host string) bool {
	return host == "localhost" || host == "::1" || strings.HasPrefix(host, "127.")
}
