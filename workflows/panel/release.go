package panel

import (
	"agent-stop-and-go/workflows/contract"
)

// release is an approval that an operator has ended by a release. The people who had approved the call
// as it is count for the rules of now, too.
type release struct {
	by    contract.ApprovalResult
	given []*changed
	begun bool
}

// free takes the demands of a release, and reports whether it was one.
func (p *Panel) free(r *contract.ApprovalResult) bool {
	if r.Revision == nil || !r.Revision.Released {
		return false
	}
	p.Call.Verdict, p.deputized = r.Revision.Verdict, nil
	for _, earlier := range p.given {
		earlier.used = false
	}
	p.released = &release{by: *r, given: p.given}
	return true
}

// isNew reports whether a round is to begin by what was released.
func (r *release) isNew() bool { return r != nil && !r.begun }

// begin returns how the call stands if nobody is asked: it was released, or everybody has approved it whom
// the rules of now name.
func (r *release) begin() *contract.ApprovalResult {
	r.begun = true
	if r.by.Decision != contract.Approved && len(r.given) > 0 {
		return &r.given[len(r.given)-1].by
	}
	return &r.by
}
