package oauth

import (
	"net/http"
	"strings"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// Refusal is what a server says about a token that it does not accept.
type Refusal struct {
	// Metadata is the address of the server's metadata, or "".
	Metadata string
	// Scopes are those that the request needs, if the server names them.
	Scopes []string
	// MoreScopes is set if the token is valid but lacks some of Scopes.
	MoreScopes bool
}

// Refused reads the refusal in a response: 401, or 403 with the error insufficient_scope. It
// returns false for any other response.
func Refused(resp *http.Response) (Refusal, bool) {
	if resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden {
		return Refusal{}, false
	}
	var r Refusal
	// A malformed header says nothing; the well-known addresses may.
	challenges, _ := oauthex.ParseWWWAuthenticate(resp.Header.Values("WWW-Authenticate"))
	for _, c := range challenges {
		if c.Scheme != "bearer" {
			continue
		}
		r = Refusal{
			Metadata: c.Params["resource_metadata"], Scopes: scopes(c.Params["scope"]),
			MoreScopes: c.Params["error"] == "insufficient_scope",
		}
		break
	}
	r.MoreScopes = r.MoreScopes && resp.StatusCode == http.StatusForbidden
	return r, r.MoreScopes || resp.StatusCode == http.StatusUnauthorized
}

// maxScopes bounds the scopes that are requested.
const maxScopes = 100

// scopes splits a list of scopes, without repetitions.
func scopes(list string) []string { return union(strings.Fields(list), nil) }

// union returns the scopes of both lists in their order, and at most maxScopes.
func union(a, b []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, list := range [][]string{a, b} {
		for _, scope := range list {
			if isScope(scope) && !seen[scope] && len(out) < maxScopes {
				seen[scope] = true
				out = append(out, scope)
			}
		}
	}
	return out
}

// isScope reports whether a text is one scope (RFC 6749, section 3.3).
func isScope(text string) bool {
	outside := func(c rune) bool { return c <= ' ' || c > '~' || c == '"' || c == '\\' }
	return text != "" && len(text) <= 200 && !strings.ContainsFunc(text, outside)
}

// quote prepares a text of others for an error.
func quote(text string) string {
	text = strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(text, "?"))
	if runes := []rune(text); len(runes) > 200 {
		text = string(runes[:200]) + "…"
	}
	return `"` + text + `"`
}
