package approvers

import (
	"cmp"
	"slices"
	"strings"

	"agent-stop-and-go/workflows/contract"
)

// Words says who may decide, for people: "alice, or members of ops". The requester is the owner
// of the conversation, if known. Without rules, which means without authentication, it is "".
// Names in it come from tokens and from the configuration, as they are.
func Words(rules []string, requester contract.Name) string {
	if len(rules) == 0 {
		return ""
	}
	owner := cmp.Or(requester.Subject, "the owner of the conversation")
	barred := slices.Contains(rules, NotRequester)
	var who []string
	for _, rule := range alternatives(rules) {
		if words := wordsOf(rule, owner); !(barred && rule == Requester) && !slices.Contains(who, words) {
			who = append(who, words)
		}
	}
	text := cmp.Or(strings.Join(who, ", or "), "nobody")
	if barred {
		text += "; but not " + owner
	}
	return text
}

func wordsOf(rule, owner string) string {
	kind, value, _ := strings.Cut(rule, ":")
	switch {
	case rule == Requester || rule == Asked:
		return owner
	case rule == scope+":"+contract.ScopeApproveAll:
		return "whoever may decide for everybody"
	case kind == scope:
		return "whoever has the scope " + value
	case kind == group:
		return "members of " + value
	}
	return value
}
