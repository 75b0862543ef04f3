package contract

import (
	"slices"

	"agent-stop-and-go/workflows/contract/key"
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

// Name returns the name that is proven.
func (i Identity) Name() Name { return Name{i.Subject, i.Issuer} }

// Name is the name of a caller, for others to read. It is empty if none is proven.
type Name struct {
	Subject string `json:"subject"`
	Issuer  string `json:"issuer"`
}

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

// Key returns the issuer and the subject as one text that people can read and no other
// identity has: "https://login.example.com alice". It has no quote and no backslash. A long one
// is cut and ends in a hash. The key of nobody is "".
func (i Identity) Key() string {
	if !i.Authenticated() {
		return ""
	}
	return key.Of(i.Issuer, i.Subject)
}

// GroupKeys returns the groups as Key returns the caller: with the issuer, since a group means
// nothing without it. They have no capital letters but those of escapes, because some searches
// for members of lists take no notice of case.
func (i Identity) GroupKeys() []string {
	var out []string
	for _, group := range i.Groups {
		out = append(out, key.OfGroup(i.Issuer, group))
	}
	return out
}
