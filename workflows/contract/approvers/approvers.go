// Package approvers says who may decide an approval: the rules of approval.approvers in the
// configuration, applied to an identity. The gateway asks it first, and the workflow once more.
package approvers

import (
	"fmt"
	"slices"
	"strings"

	"agent-stop-and-go/workflows/contract"
)

// NotRequester forbids the owner of a conversation to decide its approvals.
const NotRequester = "not_requester"

// The kinds of other rules, which are written kind:value.
const (
	scope   = "scope"
	subject = "subject"
	group   = "group"
)

// May reports whether a caller may decide an approval of a conversation, whose owner has a key.
// The rules are alternatives, and NotRequester is a condition on all of them. Without
// alternatives the owner may decide, and whoever may decide everything.
func May(caller contract.Identity, owner string, rules []string) bool {
	if !caller.Authenticated() || !caller.Has(contract.ScopeApprove) && !caller.Has(contract.ScopeApproveAll) {
		return false
	}
	own := caller.Key() == owner
	if own && slices.Contains(rules, NotRequester) {
		return false
	}
	alternatives := slices.DeleteFunc(slices.Clone(rules), func(rule string) bool { return rule == NotRequester })
	if len(alternatives) == 0 {
		return own || caller.Has(contract.ScopeApproveAll)
	}
	return slices.ContainsFunc(alternatives, func(rule string) bool { return matches(caller, rule) })
}

// MayDecideForOthers reports whether a caller may decide approvals of conversations that belong
// to others.
func MayDecideForOthers(caller contract.Identity, rules []string) bool {
	return May(caller, "", rules)
}

func matches(caller contract.Identity, rule string) bool {
	kind, value, _ := strings.Cut(rule, ":")
	switch kind {
	case scope:
		return caller.Has(value)
	case subject:
		return caller.Subject == value
	case group:
		return caller.MemberOf(value)
	}
	return false
}

// Check fails for a rule that nobody can match.
func Check(rule string) error {
	if rule == NotRequester {
		return nil
	}
	kind, value, ok := strings.Cut(rule, ":")
	switch {
	case !ok || value == "" || !slices.Contains([]string{scope, subject, group}, kind):
		return fmt.Errorf("%q: must be scope:NAME, subject:NAME, group:NAME or not_requester", rule)
	case kind == scope && !slices.Contains(contract.Scopes(), value):
		return fmt.Errorf("%q: there is no such scope, only %s", rule, strings.Join(contract.Scopes(), ", "))
	}
	return nil
}
