package redact

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"agent-stop-and-go/workflows/contract"
)

// unseen replaces a secret in an address.
const unseen = "…"

var (
	// An option, a header or a variable with its value, in an argument of a command.
	assignment = regexp.MustCompile(`^(-*[A-Za-z0-9_.-]+)(=|: ?)(.*)$`)
	option     = regexp.MustCompile(`^--?[A-Za-z][A-Za-z0-9_.-]*$`)
	schemeOf   = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://`)
	longWord   = regexp.MustCompile(`^[A-Za-z0-9_-]{24,}$`)
)

// URL returns a URL as people may see it: without user, fragment and the secrets in its
// query. A path segment that looks like a secret is replaced by its hash, so that a different
// secret is a different address.
func URL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return unseen + " (" + contract.Hash([]byte(raw))[:12] + ")"
	}
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	text, _, _ := strings.Cut(u.String(), "?")
	parts := strings.Split(text, "/")
	for i, part := range parts {
		if i > 2 && longWord.MatchString(part) && strings.ContainsAny(part, "0123456789") {
			parts[i] = unseen + contract.Hash([]byte(part))[:12]
		}
	}
	return strings.Join(parts, "/") + publicQuery(u.RawQuery)
}

// KeptURL returns a URL as histories store it: unchanged, or as URL returns it if that
// removes a possible secret.
func KeptURL(raw string) string {
	shown := URL(raw)
	if u, err := url.Parse(raw); err != nil || u.User != nil || !Whole(shown) {
		return shown
	}
	return raw
}

// Whole reports whether a stored URL has no replaced secrets.
func Whole(kept string) bool {
	return !strings.Contains(kept, unseen) && !strings.Contains(kept, url.PathEscape(unseen))
}

// publicQuery is sorted, so that the order of a query does not matter.
func publicQuery(raw string) string {
	if raw == "" {
		return ""
	}
	pairs := strings.Split(raw, "&")
	for i, pair := range pairs {
		name, _, _ := strings.Cut(pair, "=")
		plain, err := url.QueryUnescape(name)
		if err != nil || SecretName(plain) {
			pairs[i] = name + "=" + unseen
		}
	}
	slices.Sort(pairs)
	return "?" + strings.Join(pairs, "&")
}

// Command returns a command line as people may see it, split into words: without the
// values of options, headers and variables whose names suggest secrets, and with URLs as
// URL returns them.
func Command(command string, args []string) []string {
	out := []string{command}
	secret := false
	for _, arg := range args {
		m := assignment.FindStringSubmatch(arg)
		switch {
		case secret:
			arg = unseen
		case schemeOf.MatchString(arg):
			arg = URL(arg)
		case m != nil && SecretName(m[1]):
			arg = m[1] + m[2] + unseen
		case m != nil && schemeOf.MatchString(m[3]):
			arg = m[1] + m[2] + URL(m[3])
		}
		secret = !secret && m == nil && option.MatchString(arg) && SecretName(arg)
		out = append(out, arg)
	}
	return out
}
