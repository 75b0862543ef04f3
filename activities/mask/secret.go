package mask

import (
	"encoding/base64"
	"maps"
	"net/url"
	"slices"
	"strings"

	"agent-stop-and-go/workflows/contract"
)

// What stands for a secret.
const (
	wordSecret = "[secret]"
	wordBearer = "[bearer token]"
)

// least is how long a secret is at least, in bytes. Shorter ones are words that texts have for
// other reasons; only Pieces hides them.
const least = 8

// Secret is a value to hide, and the word that takes its place. Its String hides it.
type Secret struct{ value, word string }

// String hides the secret from logs and format verbs.
func (s Secret) String() string { return s.word }

// GoString hides the secret from %#v.
func (s Secret) GoString() string { return s.word }

// Bearer is a caller's token.
func Bearer(token string) Secret { return Secret{token, wordBearer} }

// Value is any other secret.
func Value(secret string) Secret { return Secret{secret, wordSecret} }

// Header are the secrets in the value of a header: all of it, what is behind its
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

// Headers are the secrets of those headers, or variables, whose names say that they have
// credentials.
func Headers(headers map[string]string) []Secret {
	var out []Secret
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		if contract.SecretName(name) {
			out = append(out, Header(headers[name])...)
		}
	}
	return out
}

// WholeURL are the secrets in a URL of which any parameter may be one.
func WholeURL(raw string) []Secret { return ofURL(raw, func(string) bool { return true }) }

// URL are the secrets in a URL: its password, and the parameters whose names say so.
func URL(raw string) []Secret { return ofURL(raw, contract.SecretName) }

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
