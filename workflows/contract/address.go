package contract

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// unseen stands in an address for a secret.
const unseen = "…"

var (
	// An option, a header or a variable with its value, in an argument of a command.
	assignment = regexp.MustCompile(`^(-*[A-Za-z0-9_.-]+)(=|: ?)(.*)$`)
	option     = regexp.MustCompile(`^--?[A-Za-z][A-Za-z0-9_.-]*$`)
	schemeOf   = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://`)
	longWord   = regexp.MustCompile(`^[A-Za-z0-9_-]{24,}$`)
)

// PublicURL is a URL as people may see it: without user, fragment and the secrets in
// its query. A part of its path that looks like a secret is known by a digest: another
// one is another address.
func PublicURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return unseen + " (" + Hash([]byte(raw))[:12] + ")"
	}
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	text, _, _ := strings.Cut(u.String(), "?")
	parts := strings.Split(text, "/")
	for i, part := range parts {
		if i > 2 && longWord.MatchString(part) && strings.ContainsAny(part, "0123456789") {
			parts[i] = unseen + Hash([]byte(part))[:12]
		}
	}
	return strings.Join(parts, "/") + publicQuery(u.RawQuery)
}

// KeptURL is a URL as histories have it: as it is, or as PublicURL has it if that leaves
// something out that may be a secret.
func KeptURL(raw string) string {
	shown := PublicURL(raw)
	if u, err := url.Parse(raw); err != nil || u.User != nil || !Whole(shown) {
		return shown
	}
	return raw
}

// Whole reports whether nothing stands in a URL for a secret.
func Whole(kept string) bool {
	return !strings.Contains(kept, unseen) && !strings.Contains(kept, url.PathEscape(unseen))
}

// publicQuery is sorted, so that the order of a query makes no difference.
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

// PublicCommand is a command line as people may see it, a word each: without the values
// of options, headers and variables that are called like secrets, and with URLs as
// PublicURL has them.
func PublicCommand(command string, args []string) []string {
	out := []string{command}
	secret := false
	for _, arg := range args {
		m := assignment.FindStringSubmatch(arg)
		switch {
		case secret:
			arg = unseen
		case schemeOf.MatchString(arg):
			arg = PublicURL(arg)
		case m != nil && SecretName(m[1]):
			arg = m[1] + m[2] + unseen
		case m != nil && schemeOf.MatchString(m[3]):
			arg = m[1] + m[2] + PublicURL(m[3])
		}
		secret = !secret && m == nil && option.MatchString(arg) && SecretName(arg)
		out = append(out, arg)
	}
	return out
}
