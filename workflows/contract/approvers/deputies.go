package approvers

import (
	"slices"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deputy"
)

// Deputizes reports whether a caller may decide an approval in the place of another, and returns the
// deputy with only what allows that, which is what a record has.
//
// A deputy may do what the other may, and no more: the conditions of the rules count for both. Neither
// may be the owner of the conversation where that is excluded, and neither may have decided about
// the same call. The owner is nobody's deputy about a conversation of its own. What the owner
// is asked itself is not handed over.
func Deputizes(caller contract.Identity, owner string, rules []string, d deputy.Deputy, uuid string, now time.Time) (deputy.Deputy, bool) {
	if d.From.Key() == owner && slices.Contains(rules, Asked) {
		return d, false
	}
	if !caller.Authenticated() || caller.Key() != d.To.Key() || caller.Key() == owner || caller.Key() == d.From.Key() ||
		!d.Concerns(uuid, now) || slices.Contains(rules, except(caller)) {
		return d, false
	}
	from := contract.Identity{Subject: d.From.Subject, Issuer: d.From.Issuer, Groups: d.From.Groups, Scopes: d.From.Scopes}
	grounds, ok := Grounds(from, owner, rules)
	d.From.Groups, d.From.Scopes = grounds.Groups, grounds.Scopes
	d.To.Groups, d.To.Scopes = nil, nil
	return d, ok
}

// AnyDeputizes returns the first deputy by which a caller may decide an approval.
func AnyDeputizes(caller contract.Identity, owner string, rules []string, all []deputy.Deputy, uuid string, now time.Time) (deputy.Deputy, bool) {
	for _, d := range all {
		if d, ok := Deputizes(caller, owner, rules, d, uuid, now); ok {
			return d, true
		}
	}
	return deputy.Deputy{}, false
}

// ExceptThose is Except for everybody who has had a part in a decision: who decided, and in whose
// place.
func ExceptThose(rules []string, r contract.ApprovalResult) []string {
	rules = Except(rules, r.Identity)
	if r.For != nil && r.Identity.Authenticated() {
		rules = Except(rules, contract.Identity{Subject: r.For.From.Subject, Issuer: r.For.From.Issuer})
	}
	return rules
}
