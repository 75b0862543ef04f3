package panel

import (
	"slices"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/approvers"
	"agent-stop-and-go/workflows/contract/verdict"
)

// changed is the approval with the last changes. Those before it were for other arguments, and do
// not count.
type changed struct {
	by      contract.ApprovalResult
	rule    verdict.Approval // that asked
	settled bool             // nobody has changed the call since
	used    bool
}

// note takes the changes of an approval, and reports whether there are any.
func (p *Panel) note(a *verdict.Approval, r *contract.ApprovalResult) bool {
	rev := r.Revision
	if rev == nil {
		return false
	}
	if rev.SHA256 != p.Call.SHA256 {
		p.Call.Preview = "" // it was about the arguments before
	}
	p.Call.Arguments, p.Call.SHA256, p.Call.Verdict = rev.Arguments, rev.SHA256, rev.Verdict
	p.changed, p.deputized, p.released = &changed{by: *r, rule: *a}, nil, nil
	p.given = []*changed{{by: *r, rule: *a}}
	if r.For != nil {
		p.deputized = append(p.deputized, *r)
	}
	return true
}

// changes reports whether a decision has changed the call in this round.
func (p *Panel) changes(r *contract.ApprovalResult) bool {
	return r.Revision != nil && !p.changed.settled
}

// countsFor reports whether the approval with the changes is one of those that a rule asks for: it was
// asked for by the same people, or the person may decide this one, too. A deputy counts once.
func (c *changed) countsFor(a *verdict.Approval, rules []string, owner contract.Identity) bool {
	if c == nil || c.by.For != nil && c.used {
		return false
	}
	same := c.rule.NotRequester == a.NotRequester && slices.Equal(c.rule.By, a.By)
	open := len(rules) == 0 && !owner.Authenticated() // everybody decides
	if same || open || c.by.For == nil && approvers.May(c.by.Identity, owner.Key(), rules) {
		c.used = true
		return true
	}
	return false
}
