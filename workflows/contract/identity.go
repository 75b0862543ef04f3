package contract

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Identity is what is proven of a caller. The zero value means that nobody was asked to prove
// anything: the gateway has no authentication, or a person signalled a workflow.
type Identity struct {
	Subject string `json:"subject,omitempty"`
	// Issuer vouches for the subject: the URL of an OpenID provider, "keys" or "proxy". A
	// subject means nothing without it.
	Issuer string   `json:"issuer,omitempty"`
	Groups []string `json:"groups,omitempty"`
	// Scopes are the caller's scopes. In the record of an action they are those that allowed it.
	Scopes []string `json:"scopes,omitempty"`
	// Channel is the protocol that the caller used.
	Channel string `json:"channel,omitempty"`
}

// The scopes.
const (
	ScopeConverse   = "converse"    // start conversations, and write to one's own
	ScopeRead       = "read"        // read one's own
	ScopeApprove    = "approve"     // decide the approvals of one's own
	ScopeOperate    = "operate"     // operate the agent
	ScopeReadAll    = "read:all"    // read those of everybody
	ScopeApproveAll = "approve:all" // decide those of everybody
)

// Scopes lists all scopes.
func Scopes() []string {
	return []string{ScopeConverse, ScopeRead, ScopeApprove, ScopeOperate, ScopeReadAll, ScopeApproveAll}
}

// The channels.
const (
	ChannelREST   = "rest"
	ChannelAGUI   = "ag-ui"
	ChannelA2A    = "a2a"
	ChannelSignal = "signal" // a person signalled the workflow itself
)

// Bounds of an identity, in bytes and numbers.
const (
	MaxSubject = 200
	MaxIssuer  = 255
	MaxGroups  = 64
	MaxGroup   = 100
)

// Authenticated reports whether somebody is proven.
func (i Identity) Authenticated() bool { return i.Subject != "" }

// Name returns the caller with subject and issuer alone, for others to read.
func (i Identity) Name() Identity { return Identity{Subject: i.Subject, Issuer: i.Issuer} }

// Same reports whether both are the same proven caller.
func (i Identity) Same(other Identity) bool {
	return i.Authenticated() && i.Subject == other.Subject && i.Issuer == other.Issuer
}

// Has reports whether the caller has a scope.
func (i Identity) Has(scope string) bool { return slices.Contains(i.Scopes, scope) }

// May reports whether the scopes allow what needs a scope. A scope for the objects of everybody
// includes that for one's own.
func (i Identity) May(scope string) bool { return i.Has(scope) || i.Has(scope+":all") }

// MemberOf reports whether the caller is in a group.
func (i Identity) MemberOf(group string) bool { return slices.Contains(i.Groups, group) }

// maxKey is the length of a keyword in Temporal's search attributes on SQL databases.
const maxKey = 255

// Key returns the issuer and the subject as one text that people can read and no other
// identity has: "https://login.example.com alice". It has no quote and no backslash. A long one
// is cut and ends in a hash. The key of nobody is "".
func (i Identity) Key() string {
	if !i.Authenticated() {
		return ""
	}
	key := escapeKey(i.Issuer) + " " + escapeKey(i.Subject)
	if len(key) <= maxKey {
		return key
	}
	return key[:maxKey-33] + "~" + Hash([]byte(key))[:32]
}

// GroupKeys returns the groups as Key returns the caller: with the issuer, since a group means
// nothing without it. They have no capital letters but those of escapes, because some searches
// for members of lists take no notice of case.
func (i Identity) GroupKeys() []string {
	var out []string
	for _, group := range i.Groups {
		key := []byte(escapeKey(i.Issuer) + " " + escapeKey(group))
		key = capital.ReplaceAllFunc(key, func(c []byte) []byte {
			if len(c) > 1 { // an escape
				return c
			}
			return fmt.Appendf(nil, "%%%02X", c)
		})
		if len(key) > maxKey {
			key = append(key[:maxKey-33], "~"+Hash(key)[:32]...)
		}
		out = append(out, string(key))
	}
	return out
}

var capital = regexp.MustCompile("%[0-9A-F]{2}|[A-Z]")

// escapeKey replaces all bytes but letters, digits and common signs by %XX.
func escapeKey(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-._:/@+=|", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
