package identity

import (
	"slices"

	"agent-stop-and-go/workflows/contract"
)

// Grants say what the callers of one way may do.
type Grants struct {
	// Scopes are those of every caller.
	Scopes []string
	// Groups are the scopes of the members of a group, by its name.
	Groups map[string][]string
	// Known are the groups that matter elsewhere. If a caller has more groups than an identity
	// may have, the others are dropped.
	Known []string
}

// apply returns the caller with its scopes and groups. The asked ones are added as they are,
// except unknown scopes.
func (g Grants) apply(caller contract.Identity, groups, asked []string) contract.Identity {
	scopes := slices.Concat(g.Scopes, asked)
	for _, group := range groups {
		scopes = append(scopes, g.Groups[group]...)
	}
	caller.Groups, caller.Scopes = g.fewer(groups), nil
	for _, scope := range contract.Scopes() {
		if slices.Contains(scopes, scope) {
			caller.Scopes = append(caller.Scopes, scope)
		}
	}
	return caller
}

// fewer returns the groups in order, at most as many as an identity may have, and none whose
// name it may not have: no rule names such a group, and it locks nobody out.
func (g Grants) fewer(groups []string) []string {
	groups = slices.DeleteFunc(slices.Clone(groups), func(group string) bool { return group == "" || !printable(group, contract.MaxGroup) })
	slices.Sort(groups)
	groups = slices.Compact(groups)
	if len(groups) <= contract.MaxGroups {
		return groups
	}
	return slices.DeleteFunc(groups, func(group string) bool {
		_, granted := g.Groups[group]
		return !granted && !slices.Contains(g.Known, group)
	})
}
