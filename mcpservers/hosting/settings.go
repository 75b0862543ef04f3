package hosting

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"
)

// Transports, as they are written in flags and files.
const (
	TransportHTTP  = "http"  // Streamable HTTP at /mcp, and the older SSE pair at /sse and /message
	TransportSSE   = "sse"   // only the older pair
	TransportStdio = "stdio" // the program that started this one, on stdin and stdout
)

// Settings are what every tool server lets its users choose, in YAML and by
// flags. Embed them in the server's own configuration with `yaml:",inline"`,
// fill them with [DefaultSettings] before decoding and call Validate after.
type Settings struct {
	Transport string `yaml:"transport"`
	Host      string `yaml:"host"`
	Port      int    `yaml:"port"` // 0 picks a free one
	// AuthTokenEnv names the environment variable with the bearer token that
	// callers over HTTP must show. Empty: whoever reaches the port may call.
	AuthTokenEnv string `yaml:"auth_token_env"`
	// AllowedHosts are further names this server is called by in Host headers,
	// without port; "*" is any. Names of this machine's loopback always are. When
	// empty, every name goes on connections that come over a network.
	AllowedHosts []string `yaml:"allowed_hosts"`
	// AllowedOrigins are further web pages that may call, such as
	// https://chat.example.com; "*" is any. Pages on loopback may over loopback.
	AllowedOrigins []string `yaml:"allowed_origins"`
	// SessionIdle is how long a client may be silent, with no stream open,
	// before its session is forgotten.
	SessionIdle time.Duration `yaml:"session_idle"`
}

// DefaultSettings serve HTTP on this machine only.
func DefaultSettings(port int) Settings {
	return Settings{Transport: TransportHTTP, Host: "127.0.0.1", Port: port, SessionIdle: time.Hour}
}

// Keys are the YAML keys of Settings, for messages about unknown ones.
func Keys() []string {
	return []string{"host", "port", "transport", "auth_token_env", "allowed_hosts", "allowed_origins", "session_idle"}
}

// Validate reports every value that no server can start with.
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
	if s.SessionIdle < time.Second {
		errs = append(errs, fmt.Errorf("session_idle %v is too short: 1s or more, such as 1h", s.SessionIdle))
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

// Token reads the bearer token from the environment, "" when none is asked for.
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
