package web

import (
	"net"
	"net/url"
	"strconv"
	"strings"

	"agent-stop-and-go/config/secrets"
)

// Config is one web.yaml. Make it with Load or Parse: the zero value lacks the defaults.
type Config struct {
	// AgentURL is the address of the agent's gateway.
	AgentURL string `yaml:"agent_url"`
	Host     string `yaml:"host"`
	Port     int    `yaml:"port"`
	// DataDir has the key that seals cookies, unless the environment has it.
	DataDir string `yaml:"data_dir"`
	// PublicURL is the URL at which browsers reach the process; "" if it is that of each request.
	PublicURL string `yaml:"public_url"`
	// AllowedHosts are names of the process besides those of loopback, of Host, and of its URLs.
	AllowedHosts []string `yaml:"allowed_hosts"`
	// ForwardHeaders are headers that requests may have besides those of the API. What a proxy in
	// front of this process says of a caller is one of them.
	ForwardHeaders []string `yaml:"forward_headers"`
	// OAuth2 is nil if the process gets no tokens for tools.
	OAuth2 *OAuth2 `yaml:"oauth2"`

	file  string
	lines map[string]int
}

// OAuth2 is a client of an authorization server. Its endpoints are given, or found at the issuer.
type OAuth2 struct {
	ClientID     string   `yaml:"client_id"`
	ClientSecret string   `yaml:"client_secret"`
	Issuer       string   `yaml:"issuer"`
	AuthURL      string   `yaml:"auth_url"`
	TokenURL     string   `yaml:"token_url"`
	RevokeURL    string   `yaml:"revoke_url"`
	RedirectURL  string   `yaml:"redirect_url"`
	Scopes       []string `yaml:"scopes"`
}

// Default is the configuration of an empty file.
func Default() *Config {
	return &Config{Host: "127.0.0.1", Port: 3000, DataDir: "./data"}
}

// Address is where the process listens.
func (c *Config) Address() string { return net.JoinHostPort(c.Host, strconv.Itoa(c.Port)) }

// Agent is AgentURL without a slash at the end.
func (c *Config) Agent() *url.URL {
	u, err := url.Parse(strings.TrimRight(c.AgentURL, "/"))
	if err != nil { // Parse has refused it
		panic(err)
	}
	return u
}

// Base is the URL at which browsers reach the process, without a slash at the end; "" if it is that of
// each request. The redirect_url says it, too.
func (c *Config) Base() string {
	if c.PublicURL != "" {
		return strings.TrimRight(c.PublicURL, "/")
	}
	if c.OAuth2 != nil {
		if u, err := url.Parse(c.OAuth2.RedirectURL); err == nil {
			return u.Scheme + "://" + u.Host
		}
	}
	return ""
}

// Names returns the host names of the process besides those of loopback.
func (c *Config) Names() []string {
	names := append([]string{c.Host}, c.AllowedHosts...)
	if u, err := url.Parse(c.Base()); err == nil && u.Hostname() != "" {
		names = append(names, u.Hostname())
	}
	return names
}

// Secret returns the client's secret: "" for a public client.
func (o *OAuth2) Secret(getenv func(string) string) (string, error) {
	if o.ClientSecret == "" || o.secretInFile() {
		return o.ClientSecret, nil
	}
	return secrets.Read(o.ClientSecret, getenv)
}

// secretInFile reports whether the file itself has the secret.
func (o *OAuth2) secretInFile() bool {
	return o.ClientSecret != "" && !secrets.IsReference(o.ClientSecret) && !strings.HasPrefix(o.ClientSecret, "file:")
}
