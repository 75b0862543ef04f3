package auth

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Kinds of Settings.
const (
	None = "none" // everybody, also off loopback
	Keys = "keys"
	OIDC = "oidc"
)

// Settings are the user's, in YAML and flags.
type Settings struct {
	Kind string `yaml:"auth"` // none, keys or oidc; "": everybody on loopback, and nobody elsewhere
	// KeysFile has a name and a digest on each line.
	KeysFile string `yaml:"auth_keys_file"`
	// Issuer is the URL of the OpenID provider.
	Issuer   string   `yaml:"auth_issuer"`
	Audience string   `yaml:"auth_audience"`
	Scopes   []string `yaml:"auth_scopes"` // all are needed
	// Resource is the URL by which clients know the server, such as https://tools.example.com/mcp. If
	// it is empty, it is the one that they called.
	Resource string `yaml:"auth_resource"`
}

// Validate reports every invalid value.
func (s Settings) Validate() error {
	var errs []error
	switch s.Kind {
	case "", None:
	case Keys:
		if s.KeysFile == "" {
			errs = append(errs, errors.New("auth keys needs auth_keys_file"))
		}
	case OIDC:
		if s.Issuer == "" || s.Audience == "" {
			errs = append(errs, errors.New("auth oidc needs auth_issuer and auth_audience"))
		}
		if err := checkURL(s.Issuer); s.Issuer != "" && err != nil {
			errs = append(errs, fmt.Errorf("auth_issuer: %w", err))
		}
	default:
		errs = append(errs, fmt.Errorf("auth %q is unknown: use keys, oidc or none", s.Kind))
	}
	if s.Kind != Keys && s.KeysFile != "" {
		errs = append(errs, errors.New("auth_keys_file belongs to auth: keys"))
	}
	if s.Kind != OIDC && s.Issuer+s.Audience+strings.Join(s.Scopes, "") != "" {
		errs = append(errs, errors.New("auth_issuer, auth_audience and auth_scopes belong to auth: oidc"))
	}
	if err := checkURL(s.Resource); s.Resource != "" && err != nil {
		errs = append(errs, fmt.Errorf("auth_resource: %w", err))
	}
	return errors.Join(errs...)
}

// checkURL wants https, or http on this machine.
func checkURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" {
		return fmt.Errorf("%q is not a URL", text)
	}
	if name := u.Hostname(); u.Scheme != "https" && (u.Scheme != "http" || name != "localhost" && name != "127.0.0.1" && name != "::1") {
		return fmt.Errorf("%q must begin with https://", text)
	}
	return nil
}
