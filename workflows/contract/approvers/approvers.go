// Package approvers says who may decide an approval: the rules of approval.approvers in the
// configuration, applied to an identity. The gateway asks it first, and the workflow once more.
package approvers

import (
	"fmt"
	"slices"
	"strings"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/verdict"
)

// Rules without a value.
const (
	// Requester is the owner of the conversation.
	Requester = "requester"
	// NotRequester forbids the owner of a conversation to decide its approvals.
	NotRequester = "not_requester"
	// Asked is the owner of the conversation, whose right to write to it is enough. Only
	// ForAnswer makes it.
	Asked = "requester:converse"
)

// The kinds of other rules, which are written kind:value.
const (
	scope   = "scope"
	subject = "subject"
	group   = "group"
)

// not begins a condition that excludes a caller, by its key. Only Except makes it.
const not = "not:"

// MaxRules is the greatest number of rules.
const MaxRules = 32

// Default returns the rules of an agent without approval.approvers: the owner may decide, and
// whoever may decide everything.
func Default() []string { return []string{Requester, scope + ":" + contract.ScopeApproveAll} }

// For returns the rules of an approval, from those of the agent. Without authentication there
// are none.
func For(in contract.ApprovalInput, rules []string) []string {
	switch {
	case len(rules) == 0 && !in.Owner.Authenticated():
		return nil
	case in.Pending().AsksRequester():
		return ForAnswer(rules)
	case len(rules) == 0:
		return Default()
	}
	return rules
}

// Instead returns rules with other alternatives under the same conditions.
func Instead(rules, others []string) []string {
	out := slices.Clone(others)
	for _, rule := range rules {
		if (rule == NotRequester || strings.HasPrefix(rule, not)) && !slices.Contains(out, rule) {
			out = append(out, rule)
		}
	}
	return out
}

// Except returns rules that exclude a caller, who has decided an approval of the same call.
// Somebody who is not proven cannot be excluded.
func Except(rules []string, decider contract.Identity) []string {
	if !decider.Authenticated() {
		return rules
	}
	if len(rules) == 0 {
		rules = Default()
	}
	return append(slices.Clone(rules), except(decider))
}

func except(caller contract.Identity) string { return not + caller.Key() }

// Required returns the rules of an approval that a rule of the agent asks for. rules are the
// agent's own.
func Required(a verdict.Approval, rules []string) []string {
	if len(a.By) > 0 {
		rules = a.By
	}
	if !a.NotRequester || slices.Contains(rules, NotRequester) {
		return rules
	}
	others := slices.DeleteFunc(alternatives(rules), func(rule string) bool { return rule == Requester })
	return append(others, NotRequester)
}

// ForAnswer returns the rules for what asks the owner of the conversation itself: the owner
// answers, and so may those who decide approvals.
func ForAnswer(rules []string) []string { return append([]string{Asked}, alternatives(rules)...) }

// May reports whether a caller may decide an approval of a conversation, whose owner has a key.
// Workflows ask it too, so a change of its meaning needs workflow.GetVersion there.
func May(caller contract.Identity, owner string, rules []string) bool {
	_, ok := Grounds(caller, owner, rules)
	return ok
}

// Grounds is May. It also returns the caller with only those scopes and groups that allow the
// decision, which is what a record of it has.
//
// The rules are alternatives, and NotRequester and those of Except are conditions on all of them. Without
// alternatives those of Default count. Whoever decides needs the scope approve or approve:all
// in addition, except for Asked.
func Grounds(caller contract.Identity, owner string, rules []string) (contract.Identity, bool) {
	grounds := caller
	grounds.Scopes, grounds.Groups = nil, nil
	own := caller.Authenticated() && caller.Key() == owner
	if !caller.Authenticated() || own && slices.Contains(rules, NotRequester) || slices.Contains(rules, except(caller)) {
		return grounds, false
	}
	for _, rule := range alternatives(rules) {
		if scopes, groups, ok := match(caller, own, rule); ok {
			grounds.Scopes, grounds.Groups = scopes, groups
			return grounds, true
		}
	}
	return grounds, false
}

// MayDecideForOthers reports whether a caller may decide approvals of conversations that belong
// to others.
func MayDecideForOthers(caller contract.Identity, rules []string) bool {
	return May(caller, "", rules)
}

// alternatives returns a copy of the rules without the conditions.
func alternatives(rules []string) []string {
	rest := slices.DeleteFunc(slices.Clone(rules), func(rule string) bool { return rule == NotRequester || strings.HasPrefix(rule, not) })
	if len(rest) == 0 {
		return Default()
	}
	return rest
}

// match reports whether a rule allows a caller to decide, and with which scopes and groups.
func match(caller contract.Identity, own bool, rule string) (scopes, groups []string, ok bool) {
	if rule == Asked {
		return []string{contract.ScopeConverse}, nil, own && caller.Has(contract.ScopeConverse)
	}
	decides := []string{contract.ScopeApprove}
	if !caller.Has(contract.ScopeApprove) {
		if decides[0] = contract.ScopeApproveAll; !caller.Has(contract.ScopeApproveAll) {
			return nil, nil, false
		}
	}
	kind, value, _ := strings.Cut(rule, ":")
	switch {
	case rule == Requester:
		return decides, nil, own
	case kind == scope && (value == contract.ScopeApprove || value == contract.ScopeApproveAll):
		return []string{value}, nil, caller.Has(value)
	case kind == scope:
		return append(decides, value), nil, caller.Has(value)
	case kind == subject:
		return decides, nil, isSubject(caller, value)
	case kind == group:
		return decides, []string{value}, caller.MemberOf(value)
	}
	return nil, nil, false
}

// isSubject reports whether a rule names the caller: by the subject alone, or by issuer and
// subject as in Key. A name with a space is never a subject alone, or a subject could look like
// an issuer.
func isSubject(caller contract.Identity, name string) bool {
	if strings.Contains(name, " ") {
		return caller.Key() == name
	}
	return caller.Subject == name
}

// Groups lists the groups that rules name.
func Groups(rules []string) []string {
	var out []string
	for _, rule := range rules {
		if name, ok := strings.CutPrefix(rule, group+":"); ok {
			out = append(out, name)
		}
	}
	return out
}

// CheckAll reports what is wrong with a list in a configuration, at the list's key ("") or at an
// entry ("[1]"). proven reports whether callers prove who they are.
func CheckAll(rules []string, proven bool, report func(key, problem string)) {
	switch {
	case len(rules) == 0:
		return
	case !proven:
		report("", "needs auth: with auth: none nobody is known, and whoever reaches the agent decides")
	case len(rules) > MaxRules:
		report("", fmt.Sprintf("must have at most %d entries", MaxRules))
	case slices.Contains(rules, Requester) && slices.Contains(rules, NotRequester):
		report("", "requester and not_requester exclude each other")
	}
	for i, rule := range rules {
		if err := Check(rule); err != nil {
			report(fmt.Sprintf("[%d]", i), err.Error())
		}
	}
}

// Check fails for a rule that nobody can match.
func Check(rule string) error {
	if rule == Requester || rule == NotRequester {
		return nil
	}
	kind, value, ok := strings.Cut(rule, ":")
	switch {
	case !ok || value == "" || !slices.Contains([]string{scope, subject, group}, kind):
		return fmt.Errorf("%q: must be requester, scope:NAME, subject:NAME, group:NAME or not_requester", rule)
	case kind == scope && !slices.Contains(contract.Scopes(), value):
		return fmt.Errorf("%q: there is no such scope, only %s", rule, strings.Join(contract.Scopes(), ", "))
	case kind == group && len(value) > contract.MaxGroup, kind == subject && len(value) > contract.MaxIssuer+1+contract.MaxSubject:
		return fmt.Errorf("%q: is longer than the name of any %s", rule, kind)
	}
	return nil
}
