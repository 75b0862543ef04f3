package mask

import (
	"encoding/base64"
	"maps"
	"net/url"
	"slices"
	"strings"

	"agent-stop-and-go/workflows/contract/redact"
)

// The replacements of secrets.
const (
	wordSecret = "[secret]"
	wordBearer = "[bearer token]"
)

// least is the minimum length of a secret in bytes. Shorter values occur in texts by chance;
// only Pieces hides them.
const least = 8

// Secret is a value to hide, and the word that replaces it. Its String returns the word.
type Secret struct{ value, word string }

// String hides the secret from logs and format verbs.
func (s Secret) String() string { return s.word }

// GoString hides the secret from %#v.
func (s Secret) GoString() string { return s.word }

// Bearer returns the secret of a caller's token.
func Bearer(token string) Secret { return Secret{token, wordBearer} }

// Value returns any other secret.
func Value(secret string) Secret { return Secret{secret, wordSecret} }

// Header returns the secrets in the value of a header: the whole value, the part after its
// scheme, and the password of Basic.
func Header(value string) []Secret {
	out := []Secret{Value(value)}
	scheme, token, ok := strings.Cut(value, " ")
	if !ok {
		return out
	}
	token = strings.TrimSpace(token)
	out = append(out, Value(token))
	if pair, err := base64.StdEncoding.DecodeString(token); err == nil && strings.EqualFold(scheme, "Basic") {
		_, password, _ := strings.Cut(string(pair), ":")
		out = append(out, Value(password))
	}
	return out
}

// Headers returns the secrets of the headers, or variables, that have the name of a credential.
func Headers(headers map[string]string) []Secret {
	var out []Secret
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		if redact.SecretName(name) {
			out = append(out, Header(headers[name])...)
		}
	}
	return out
}

// WholeURL returns the secrets in a URL in which any parameter may be secret.
func WholeURL(raw string) []Secret { return ofURL(raw, func(string) bool { return true }) }

// URL returns the secrets in a URL: its password, and the parameters that have the name of a
// credential.
func URL(raw string) []Secret { return ofURL(raw, redact.SecretName) }

func ofURL(raw string, secret func(parameter string) bool) []Secret {
	u, err := url.Parse(raw)
	if err != nil {
		return nil
	}
	var out []Secret
	if password, ok := u.User.Password(); ok {
		out = append(out, Value(password))
	}
	query := u.Query()
	for _, name := range slices.Sorted(maps.Keys(query)) {
		for _, value := range query[name] {
			if secret(name) {
				out = append(out, Value(value))
			}
		}
	}
	return out
}
