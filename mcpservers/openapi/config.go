package openapi

import (
	"errors"
	"flag"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"agent-stop-and-go/mcpservers/hosting"
	"agent-stop-and-go/mcpservers/openapi/api"
)

// Config has the address of the server, the API and its limits.
type Config struct {
	hosting.Settings `yaml:",inline"` // host, port, transport, …
	api.Selection    `yaml:",inline"` // include, exclude, read_only

	// API is the file or the http(s) URL of the document.
	API string `yaml:"api"`
	// BaseURL is the address of the API; "" for the first server of the document.
	BaseURL string `yaml:"base_url"`
	// Credentials are environment variables by security scheme, see package credential.
	Credentials map[string]string `yaml:"credentials"`
	// MaxTools is the number of operations beyond which there are tools to search and call them.
	MaxTools int `yaml:"max_tools"`
	// MaxResponse bounds what is returned of a response, in bytes.
	MaxResponse int `yaml:"max_response"`
	// Timeout bounds a call. An agent waits 30s for it.
	Timeout hosting.Span `yaml:"timeout"`
}

// DefaultConfig returns settings for a server on loopback. It has no API, which a server needs.
func DefaultConfig() Config {
	return Config{Settings: hosting.DefaultSettings(8094), MaxTools: 40, MaxResponse: 64 << 10, Timeout: hosting.Span(25 * time.Second)}
}

// Bind adds the flags of the server.
func (c *Config) Bind(set *flag.FlagSet) {
	c.Settings.Bind(set)
	set.StringVar(&c.API, "api", c.API, "")
	set.StringVar(&c.BaseURL, "base-url", c.BaseURL, "")
	set.BoolVar(&c.Selection.ReadOnly, "read-only", c.Selection.ReadOnly, "")
	set.Func("credential", "", func(text string) error {
		scheme, variable, ok := strings.Cut(text, "=")
		if !ok {
			return errors.New("write SCHEME=VARIABLE")
		}
		if c.Credentials == nil {
			c.Credentials = map[string]string{}
		}
		c.Credentials[scheme] = variable
		return nil
	})
	for name, list := range map[string]*[]string{
		"tag": &c.Include.Tags, "operation": &c.Include.Operations, "path": &c.Include.Paths,
		"exclude-tag": &c.Exclude.Tags, "exclude-operation": &c.Exclude.Operations, "exclude-path": &c.Exclude.Paths,
	} {
		set.Func(name, "", func(text string) error {
			*list = append(*list, text)
			return nil
		})
	}
}

// LoadConfig reads a YAML file over the defaults. One error reports all mistakes of the file.
func LoadConfig(path string) (Config, error) { return hosting.LoadYAML(path, DefaultConfig(), keys) }

// keys are the allowed keys, by the Go type in errors of yaml.
var keys = map[string]string{
	"openapi.Config": strings.Join(append(hosting.Keys(), "api", "base_url", "credentials", "include", "exclude", "read_only", "max_tools", "max_response", "timeout"), ", "),
	"api.Pattern":    "tags, operations, paths",
}

// ErrNoAPI is returned by Validate for a configuration without an API.
var ErrNoAPI = errors.New("no API: name the OpenAPI document with --api, or with api in the file of --config (see --help)")

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Validate reports every invalid value.
func (c Config) Validate() error {
	errs := []error{c.Settings.Validate(), c.Include.Validate(), c.Exclude.Validate()}
	if c.API == "" {
		errs = append(errs, ErrNoAPI)
	}
	if u, err := url.Parse(c.BaseURL); c.BaseURL != "" && (err != nil || !slices.Contains([]string{"http", "https"}, u.Scheme) || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "") {
		errs = append(errs, errors.New("base_url must be http://HOST or https://HOST, with a path if need be"))
	}
	for scheme, variable := range c.Credentials {
		if !envName.MatchString(variable) {
			errs = append(errs, fmt.Errorf("credentials: that of %s is not the name of an environment variable, which has the credential", scheme))
		}
	}
	if c.MaxTools < 0 || c.MaxTools > 1000 {
		errs = append(errs, fmt.Errorf("max_tools %d is out of range: 0 to 1000", c.MaxTools))
	}
	if c.MaxResponse < 1<<10 || c.MaxResponse > 16<<20 {
		errs = append(errs, fmt.Errorf("max_response %d is out of range: 1024 to %d", c.MaxResponse, 16<<20))
	}
	if t := time.Duration(c.Timeout); t < 100*time.Millisecond || t > 10*time.Minute {
		errs = append(errs, fmt.Errorf("timeout %s is out of range: 100ms to 10m", t))
	}
	return errors.Join(errs...)
}
