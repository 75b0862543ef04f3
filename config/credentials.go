package config

import (
	"cmp"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"agent-stop-and-go/config/own"
	"agent-stop-and-go/config/secrets"
)

// Values of credential.
const (
	CredentialNone     = "none"
	CredentialForward  = "forward"
	CredentialExchange = "exchange"
	CredentialOwn      = "own"
)

// ActorNone is the value of actor_token for providers that take none.
const ActorNone = "none"

// TokenExchange is the provider that exchanges tokens (RFC 8693), and the agent as its client.
type TokenExchange struct {
	Issuer       string   `yaml:"issuer" jsonschema_description:"The URL of the provider, whose OpenID metadata names the endpoint. Either this or token_url. It must be https, or of this machine."`
	TokenURL     string   `yaml:"token_url" jsonschema_description:"The token endpoint of a provider without metadata."`
	ClientID     string   `yaml:"client_id" jsonschema_description:"The name of this agent at the provider. Required. Tool servers and agents see it in the claim act."`
	ClientSecret string   `yaml:"client_secret" jsonschema_description:"The agent's secret at the provider, as ${NAME} or file:PATH. Either this or private_key."`
	PrivateKey   string   `yaml:"private_key" jsonschema_description:"The agent's private key as file:PATH: a JSON Web Key, or PEM. It signs the assertions by which the agent authenticates (private_key_jwt)."`
	KeyID        string   `yaml:"key_id" jsonschema_description:"The ID of a private key in PEM at the provider (kid)."`
	ActorToken   string   `yaml:"actor_token" jsonschema:"default=client_credentials,enum=client_credentials,enum=none" jsonschema_description:"How the provider learns which agent acts for the caller. client_credentials: by a token of the agent's own, which it gets by that grant. none: by the agent's authentication alone, for providers that take no actor_token."`
	SubjectToken string   `yaml:"subject_token" jsonschema:"default=access_token,enum=access_token,enum=id_token,enum=jwt" jsonschema_description:"What the callers' tokens are."`
	ActorScopes  []string `yaml:"actor_scopes" jsonschema_description:"The scopes of the agent's own token."`
}

// Exchange says which token is asked for.
type Exchange struct {
	Audience string   `yaml:"audience" jsonschema_description:"The name of the server at the provider."`
	Resource string   `yaml:"resource" jsonschema_description:"The URI of the server. Without audience and resource it is the url."`
	Scopes   []string `yaml:"scopes" jsonschema_description:"The scopes that the token has to have."`
}

// Credential returns which token the calls of a server or agent carry: what its setting says,
// by default forward, or none where callers prove who they are by a token.
func (c *Config) Credential(setting string) string {
	if len(c.Auth) > 0 {
		return cmp.Or(setting, CredentialNone)
	}
	return cmp.Or(setting, CredentialForward)
}

// Credentials lists the values of credential that servers and agents have.
func (c *Config) Credentials() []string {
	var used []string
	for _, s := range c.MCPServers {
		if s.URL != "" {
			used = append(used, c.Credential(s.Credential))
		}
	}
	for _, a := range c.delegates() {
		used = append(used, c.Credential(a.Credential))
	}
	slices.Sort(used)
	return slices.Compact(used)
}

// checkCredentials checks the tokens for servers and agents, and their provider.
func (c *Config) checkCredentials(r *report) {
	for i, s := range c.MCPServers {
		path := fmt.Sprintf("mcp_servers[%d]", i)
		if s.Command != "" && s.Credential != "" && s.Credential != CredentialNone {
			r.at(path+".credential", "a server with a command gets no token; give it one in env")
		}
		c.checkCredential(r, path, s.Credential, s.Exchange, s.Headers)
		c.checkOwn(r, path, s.Credential, s.Own)
	}
	for path, a := range c.delegates() {
		c.checkCredential(r, path, a.Credential, a.Exchange, a.Headers)
		c.checkOwn(r, path, a.Credential, a.Own)
	}
	c.checkTokenExchange(r, "token_exchange", c.TokenExchange)
}

func (c *Config) checkCredential(r *report, path, credential string, exchange *Exchange, headers map[string]string) {
	for name := range headers {
		if credential != "" && credential != CredentialNone && http.CanonicalHeaderKey(name) == "Authorization" {
			r.at(path+".credential", "%s: headers.%s takes its place; keep one", credential, name)
		}
	}
	switch {
	case credential == CredentialExchange && c.TokenExchange == nil:
		r.at(path+".credential", "exchange needs a provider; write token_exchange: {issuer: https://login.example.com, client_id: NAME, client_secret: \"${SECRET}\"}")
	case credential != CredentialExchange && exchange != nil:
		r.at(path+".exchange", "is for credential: exchange only")
	case exchange != nil && exchange.Resource != "":
		checkURL(r, path+".exchange.resource", exchange.Resource)
	}
}

// checkOwn checks the agent as an OAuth client of a server or agent.
func (c *Config) checkOwn(r *report, path, credential string, s *own.Client) {
	switch {
	case credential == CredentialOwn && s == nil:
		r.at(path+".credential", "own needs the agent's client; write own: {issuer: https://login.example.com, client_id: NAME, client_secret: \"${SECRET}\"}")
	case credential != CredentialOwn && s != nil:
		r.at(path+".own", "is for credential: own only")
	case s != nil:
		s.Check(own.At(len(c.Auth) > 0, c.PublicURL, c.Host, c.Port), func(key, problem string) { r.at(strings.TrimSuffix(join(path+".own", key), "."), "%s", problem) })
	}
}

func (c *Config) checkTokenExchange(r *report, path string, x *TokenExchange) {
	if x == nil {
		return
	}
	if one := r.holds(path+".issuer", x.Issuer) != r.holds(path+".token_url", x.TokenURL); !one {
		r.at(path, "needs issuer or token_url, and only one of them")
	}
	checkIssuer(r, path+".issuer", x.Issuer)
	checkIssuer(r, path+".token_url", x.TokenURL)
	checkRequired(r, path+".client_id", x.ClientID)
	if one := r.holds(path+".client_secret", x.ClientSecret) != r.holds(path+".private_key", x.PrivateKey); !one {
		r.at(path, "needs client_secret or private_key, and only one of them")
	}
	if x.ClientSecret != "" && !secrets.IsReference(x.ClientSecret) && !isFile(x.ClientSecret) {
		r.at(path+".client_secret", "secrets do not belong in this file; write ${NAME} and set it in the agent's environment, or file:PATH")
	}
	if x.PrivateKey != "" && !isFile(x.PrivateKey) {
		r.at(path+".private_key", "must be file:PATH; keys do not belong in this file")
	}
	if !slices.Contains(c.Credentials(), CredentialExchange) {
		r.at(path, "is used by no server and no agent; write credential: exchange where it is meant")
	}
}

func isFile(value string) bool { return len(value) > len("file:") && strings.HasPrefix(value, "file:") }

// token describes the token that calls carry, or returns "" for the default.
func token(credential string, exchange *Exchange) string {
	switch {
	case credential != CredentialExchange:
		return map[string]string{
			"": "", CredentialNone: "no token", CredentialForward: "the caller's token", CredentialOwn: "a token of the agent's own",
		}[credential]
	case exchange == nil || reflect.ValueOf(*exchange).IsZero():
		return "the caller's token exchanged for its url"
	}
	text := "the caller's token exchanged for " + cmp.Or(strings.Trim(exchange.Audience+" "+exchange.Resource, " "), "its url")
	if len(exchange.Scopes) > 0 {
		text += " with " + strings.Join(exchange.Scopes, ", ")
	}
	return text
}
