package panel

import (
	"cmp"
	"time"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/approvers"
	"agent-stop-and-go/workflows/contract/verdict"
	"agent-stop-and-go/workflows/decide"
	"agent-stop-and-go/workflows/wording"
)

// Panel asks about one call.
type Panel struct {
	// Call is the call, and later as it was changed. SkipApproval is that of its node.
	Call         contract.Call
	SkipApproval bool
	// Approvers and Timeout are those of the agent, Owner that of the conversation.
	Approvers []string
	Timeout   time.Duration
	Owner     contract.Identity
	// Open opens an approval, and returns how it has ended.
	Open func(workflow.Context, *Step) *contract.ApprovalResult

	made int // approvals
	// deputized are decisions in another's place. Who has had a part in one decides for no other rule.
	deputized []contract.ApprovalResult
	changed   *changed
	given     []*changed // approvals of the call as it is
	released  *release
}

// Step is one approval.
type Step struct {
	Call contract.Call
	// Rule is what asks, nil if no rule does.
	Rule *verdict.Approval
	// Approvers may decide, Text says which rule asks, and Number counts the approvals of the call.
	Approvers []string
	Text      string
	Number    int
}

// Run asks until somebody refuses, or all have approved the call as it is then. It returns the last
// decision.
func (p *Panel) Run(ctx workflow.Context) *contract.ApprovalResult {
	for {
		r := p.round(ctx)
		if p.released.isNew() && ctx.Err() == nil {
			continue
		}
		if r.Decision != contract.Approved || ctx.Err() != nil || r.Revision == nil || p.changed == nil || p.changed.settled {
			return r
		}
	}
}

// round asks all who have to be asked about the call. It ends early if somebody changes it.
func (p *Panel) round(ctx workflow.Context) *contract.ApprovalResult {
	r := &contract.ApprovalResult{}
	if p.changed != nil {
		p.changed.settled = true // unless somebody changes it again
		r = &p.changed.by
	}
	if p.released != nil {
		r = p.released.begin()
	}
	asks := p.asks()
	for i := range asks {
		if r = p.ask(ctx, &asks[i]); p.released.isNew() || r.Decision != contract.Approved || ctx.Err() != nil || p.changes(r) {
			break
		}
	}
	return r
}

// asks are the approvals that the call needs.
func (p *Panel) asks() []verdict.Approval {
	switch {
	case p.Call.Verdict.Asking():
		return p.Call.Verdict.Asks
	case decide.Asks(p.Call, p.SkipApproval):
		return []verdict.Approval{{}}
	}
	return nil
}

// ask asks as many people as a rule says. Nobody counts twice.
func (p *Panel) ask(ctx workflow.Context, a *verdict.Approval) (r *contract.ApprovalResult) {
	rules := approvers.Required(*a, p.Approvers)
	for _, earlier := range p.deputized {
		rules = approvers.ExceptThose(rules, earlier)
	}
	step := wording.RuleStep{Rule: a.Rule, Of: max(a.Count, 1), Number: 1}
	for _, earlier := range p.counting() {
		if step.Number <= step.Of && earlier.countsFor(a, rules, p.Owner) {
			r = &earlier.by
			rules, step.Number, step.Approved = p.count(rules, r), step.Number+1, append(step.Approved, r.ShownBy())
		}
	}
	for ; step.Number <= step.Of; step.Number++ {
		if r = p.one(ctx, *a, rules, step); p.free(r) || r.Decision != contract.Approved || ctx.Err() != nil || p.note(a, r) {
			break
		}
		p.given = append(p.given, &changed{by: *r, rule: *a})
		rules, step.Approved = p.count(rules, r), append(step.Approved, r.ShownBy())
	}
	return r
}

// counting are the approvals before this round that may count in it: that of the last change, or after a
// release all of the call as it is.
func (p *Panel) counting() []*changed {
	switch {
	case p.released != nil:
		return p.released.given
	case p.changed != nil:
		return []*changed{p.changed}
	}
	return nil
}

// count returns rules without those who have had a part in an approval.
func (p *Panel) count(rules []string, r *contract.ApprovalResult) []string {
	if r.For != nil {
		p.deputized = append(p.deputized, *r)
	}
	return approvers.ExceptThose(rules, *r)
}

// one asks one person. If the approval expires, those are asked whom the rule names for that.
func (p *Panel) one(ctx workflow.Context, a verdict.Approval, rules []string, step wording.RuleStep) *contract.ApprovalResult {
	a.Expires = cmp.Or(a.Expires, p.Timeout)
	r := p.open(ctx, a, rules, &step)
	if r.Decision != contract.Expired || ctx.Err() != nil || !a.Keep && len(a.Then) == 0 {
		return r
	}
	step.Expired = true
	if len(a.Then) > 0 {
		rules = approvers.Instead(rules, a.Then)
	}
	a.Expires = 0
	return p.open(ctx, a, rules, &step)
}

func (p *Panel) open(ctx workflow.Context, a verdict.Approval, rules []string, step *wording.RuleStep) *contract.ApprovalResult {
	p.made++
	s := &Step{Call: p.Call, Number: p.made}
	if a.Rule != "" {
		if step.Edit = a.Edit; p.Call.Basis.IsZero() || p.Call.Client { // it cannot be judged again, or the client runs what it has been sent
			a.Edit, step.Edit = nil, nil
		}
		s.Rule, s.Approvers, s.Text = &a, rules, step.Text(p.Call.Verdict.Text)
	}
	if p.changed != nil {
		s.Text = wording.Below(s.Text, wording.Changed(p.changed.by))
	}
	if p.released != nil {
		s.Text = wording.Below(s.Text, wording.ReleasedStep(p.released.by))
	}
	return p.Open(ctx, s)
}
