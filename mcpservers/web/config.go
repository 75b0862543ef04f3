package web

import (
	"errors"
	"flag"
	"fmt"
	"strings"
	"time"

	"agent-stop-and-go/mcpservers/hosting"
	"agent-stop-and-go/mcpservers/hosting/reach"
	"agent-stop-and-go/mcpservers/web/search"
)

// Config has the address of the server, its search engines and its limits.
type Config struct {
	hosting.Settings `yaml:",inline"` // host, port, transport, …

	// Search are the providers, in the order in which they are tried; empty for those of the environment.
	Search []search.Config `yaml:"search"`
	// PrivateHosts may be read although they are not on the Internet: names, *.names, addresses, networks.
	PrivateHosts []string `yaml:"private_hosts"`
	// MaxPage bounds what is read of a page, in bytes.
	MaxPage int `yaml:"max_page"`
	// Timeout bounds a call. An agent waits 30s for it.
	Timeout hosting.Span `yaml:"timeout"`
	// UserAgent is sent to pages as User-Agent.
	UserAgent string `yaml:"user_agent"`
}

// DefaultConfig returns settings for a server on loopback.
func DefaultConfig() Config {
	return Config{Settings: hosting.DefaultSettings(8093), MaxPage: 5 << 20, Timeout: hosting.Span(25 * time.Second), UserAgent: "mcp-web/" + Version}
}

// Bind adds the flags of the server.
func (c *Config) Bind(set *flag.FlagSet) {
	c.Settings.Bind(set)
	set.Func("search", "", func(text string) error {
		provider, url, _ := strings.Cut(text, "=")
		c.Search = append(c.Search, search.Config{Provider: provider, URL: url})
		return nil
	})
	set.Func("private-host", "", func(text string) error {
		c.PrivateHosts = append(c.PrivateHosts, text)
		return nil
	})
}

// LoadConfig reads a YAML file over the defaults. One error reports all mistakes of the file.
func LoadConfig(path string) (Config, error) { return hosting.LoadYAML(path, DefaultConfig(), keys) }

// keys are the allowed keys, by the Go type in errors of yaml.
var keys = map[string]string{
	"web.Config":    strings.Join(append(hosting.Keys(), "search", "private_hosts", "max_page", "timeout", "user_agent"), ", "),
	"search.Config": "provider, url, key_env, model, depth",
}

// Validate reports every invalid value.
func (c Config) Validate() error {
	errs := []error{c.Settings.Validate()}
	if c.MaxPage < 1<<10 || c.MaxPage > 64<<20 {
		errs = append(errs, fmt.Errorf("max_page %d is out of range: 1024 to %d", c.MaxPage, 64<<20))
	}
	if t := time.Duration(c.Timeout); t < 100*time.Millisecond || t > 10*time.Minute {
		errs = append(errs, fmt.Errorf("timeout %s is out of range: 100ms to 10m", t))
	}
	seen := map[string]bool{}
	for i, s := range c.Search {
		if err := s.Validate(); err != nil {
			errs = append(errs, fmt.Errorf("search[%d]: %w", i, err))
		} else if seen[s.Provider] {
			errs = append(errs, fmt.Errorf("search[%d]: %s is listed twice", i, s.Provider))
		}
		seen[s.Provider] = true
	}
	if _, err := reach.New(c.PrivateHosts); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
