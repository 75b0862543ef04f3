// Package header checks HTTP headers in a configuration.
package header

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"agent-stop-and-go/config/secrets"
)

var name = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

// own are headers that HTTP sets.
var own = []string{
	"Accept", "Connection", "Content-Length", "Content-Type", "Host", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

// The headers that protocols set.
var (
	OfMCP = []string{"Last-Event-Id", "Mcp-Method", "Mcp-Name", "Mcp-Protocol-Version", "Mcp-Session-Id"}
	OfA2A = []string{"A2a-Extensions", "A2a-Version", "X-A2a-Extensions"}
)

// Problem says what is wrong with one of several headers, for a protocol that sets some itself,
// or "".
func Problem(key string, headers map[string]string, protocol []string) string {
	canonical, value := http.CanonicalHeaderKey(key), headers[key]
	switch {
	case !IsName(key):
		return fmt.Sprintf("%q: must be the name of an HTTP header", key)
	case slices.Contains(own, canonical), slices.Contains(protocol, canonical):
		return "the protocol sets this header itself"
	case repeated(key, headers):
		return "is set twice; upper and lower case make no difference"
	case !IsValue(value):
		return "must hold no line breaks and no other control characters"
	case secret(key) && value != "" && !hasSecretByReference(value):
		return fmt.Sprintf("secrets do not belong in this file; write %s and set that in the agent's own environment", referenceFor(canonical))
	}
	return ""
}

// repeated reports whether another header, earlier in the alphabet, is the same one.
func repeated(key string, headers map[string]string) bool {
	for other := range headers {
		if other < key && IsName(other) && http.CanonicalHeaderKey(other) == http.CanonicalHeaderKey(key) {
			return true
		}
	}
	return false
}

// IsName reports whether a text can be the name of a header.
func IsName(text string) bool { return name.MatchString(text) }

// IsValue reports whether a text can be the value of a header.
func IsValue(text string) bool {
	return !strings.ContainsFunc(text, func(c rune) bool { return c != '\t' && c < ' ' || c == 0x7f })
}

func secret(key string) bool {
	return secrets.InName(key) || slices.Contains([]string{"Cookie", "X-Auth", "X-Key"}, http.CanonicalHeaderKey(key))
}

// hasSecretByReference reports whether a value is a reference, possibly after the name of a
// scheme: "Bearer ${TOKEN}".
func hasSecretByReference(value string) bool {
	scheme, rest, found := strings.Cut(value, " ")
	return secrets.IsReference(value) || found && IsName(scheme) && secrets.IsReference(strings.TrimSpace(rest))
}

var noWord = regexp.MustCompile(`[^A-Za-z0-9]+`)

// referenceFor suggests a value for a header.
func referenceFor(header string) string {
	if header == "Authorization" {
		return `"Bearer ${TOKEN}"`
	}
	return "${" + strings.Trim(strings.ToUpper(noWord.ReplaceAllString(header, "_")), "_") + "}"
}
