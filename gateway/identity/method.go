package identity

import "slices"

// Method tells clients of people how to log in.
type Method struct {
	Type string `json:"type"`
	// Login means that a browser can log in.
	Login bool `json:"login"`
	// Issuer and Audience are those of the tokens that are accepted.
	Issuer   string `json:"issuer,omitempty"`
	Audience string `json:"audience,omitempty"`
	// Device is how a terminal logs in, nil if it cannot.
	Device *Device `json:"device,omitempty"`
}

// Device is a public client of a provider for the device authorization grant (RFC 8628).
type Device struct {
	ClientID string   `json:"client_id"`
	Scopes   []string `json:"scopes,omitempty"`
}

// Issuers returns the OpenID providers whose tokens callers may send.
func Issuers(methods []Method) (issuers []string) {
	for _, m := range methods {
		if m.Issuer != "" && !slices.Contains(issuers, m.Issuer) {
			issuers = append(issuers, m.Issuer)
		}
	}
	return issuers
}
