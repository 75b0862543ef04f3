package hosting

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"agent-stop-and-go/mcpservers/hosting/auth"
)

// Transports, as written in flags and files.
const (
	TransportHTTP  = "http"  // Streamable HTTP at /mcp, and the older SSE endpoints /sse and /message
	TransportSSE   = "sse"   // only the older endpoints
	TransportStdio = "stdio" // stdin and stdout
)

// Settings are the user's settings of every tool server, in YAML and flags. Embed them in the
// server's own configuration with `yaml:",inline"`, fill them with [DefaultSettings] before
// decoding and call Validate afterwards.
type Settings struct {
	Transport string `yaml:"transport"`
	Host      string `yaml:"host"`
	Port      int    `yaml:"port"` // 0: any free port
	// AuthTokenEnv is the name of the environment variable with the bearer token that is
	// required over HTTP. If empty, no token is required.
	AuthTokenEnv string `yaml:"auth_token_env"`
	// AllowedHosts are additional names of this server in Host headers, without port; "*"
	// allows any. Names of loopback are always allowed. If the list is empty, all names are
	// allowed on connections that do not come over loopback.
	AllowedHosts []string `yaml:"allowed_hosts"`
	// AllowedOrigins are additional origins of web pages that may call, such as
	// https://chat.example.com; "*" allows any. Pages on loopback are allowed over loopback.
	AllowedOrigins []string `yaml:"allowed_origins"`
	// SessionIdle is the time without a request or open stream after which a session is
	// deleted.
	SessionIdle Span `yaml:"session_idle"`

	auth.Settings `yaml:",inline"` // who may call over HTTP
}

// DefaultSettings returns settings for HTTP on loopback.
func DefaultSettings(port int) Settings {
	return Settings{Transport: TransportHTTP, Host: "127.0.0.1", Port: port, SessionIdle: Span(time.Hour)}
}

// Keys returns the YAML keys of Settings, for messages about unknown keys.
func Keys() []string {
	return []string{"host", "port", "transport", "auth_token_env", "allowed_hosts", "allowed_origins", "session_idle",
		"auth", "auth_keys_file", "auth_issuer", "auth_audience", "auth_scopes", "auth_resource"}
}

// OverStdio reports whether the server has the process that started it as its only client.
func (s Settings) OverStdio() bool { return s.Transport == TransportStdio }

// Validate reports every invalid value.
func (s Settings) Validate() error {
	var errs []error
	if !slices.Contains([]string{TransportHTTP, TransportSSE, TransportStdio}, s.Transport) {
		errs = append(errs, fmt.Errorf("transport %q is unknown: use http, sse or stdio", s.Transport))
	}
	if s.Host == "" {
		errs = append(errs, errors.New("host is empty: use 127.0.0.1 for this machine only, 0.0.0.0 for every network"))
	}
	if s.Port < 0 || s.Port > 65535 {
		errs = append(errs, fmt.Errorf("port %d is out of range: 1 to 65535, or 0 for any free port", s.Port))
	}
	if s.SessionIdle < Span(time.Second) {
		errs = append(errs, fmt.Errorf("session_idle %v is too short: 1s or more, such as 1h", &s.SessionIdle))
	}
	if err := s.Settings.Validate(); err != nil {
		errs = append(errs, err)
	}
	if s.AuthTokenEnv != "" && s.Kind != "" {
		errs = append(errs, errors.New("auth and auth_token_env exclude each other"))
	}
	return errors.Join(append(errs, s.validateNames()...)...)
}

func (s Settings) validateNames() (errs []error) {
	for _, host := range s.AllowedHosts {
		_, _, portErr := net.SplitHostPort(host)
		if host == "" || strings.Contains(host, "/") || portErr == nil {
			errs = append(errs, fmt.Errorf("allowed_hosts: %q is not a host name: leave out scheme, port and path", host))
		}
	}
	for _, origin := range s.AllowedOrigins {
		scheme, rest, ok := strings.Cut(origin, "://")
		if origin != "*" && origin != "null" && (!ok || scheme == "" || rest == "" || strings.Contains(rest, "/")) {
			errs = append(errs, fmt.Errorf("allowed_origins: %q is not an origin: write scheme://host[:port], no path", origin))
		}
	}
	return errs
}

// Token reads the bearer token from the environment. It is "" if no token is required.
func (s Settings) Token(getenv func(string) string) (string, error) {
	if s.AuthTokenEnv == "" {
		return "", nil
	}
	token := strings.TrimSpace(getenv(s.AuthTokenEnv))
	if token == "" {
		return "", fmt.Errorf("environment variable %s is empty: put the bearer token there, or leave out auth_token_env", s.AuthTokenEnv)
	}
	return token, nil
}
