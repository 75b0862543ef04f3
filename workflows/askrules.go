package workflows

import (
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/verdict"
	"agent-stop-and-go/workflows/panel"
	"agent-stop-and-go/workflows/run"
	"agent-stop-and-go/workflows/wording"
)

// askBefore asks before a call runs: once, or as the rules say that ask about it, until somebody
// refuses. It returns the call as it was approved.
func (l *leaf) askBefore(ctx workflow.Context, c call) (call, *contract.ApprovalResult) {
	a := l.parent.origin()
	p := panel.Panel{Call: c.Call, SkipApproval: l.node.SkipApproval, Approvers: a.agent.Approvers, Timeout: a.agent.ApprovalTimeout, Owner: a.owner}
	p.Open = func(ctx workflow.Context, s *panel.Step) *contract.ApprovalResult { return l.openStep(ctx, &c, s) }
	r := p.Run(ctx)
	changed := p.Call.SHA256 != c.SHA256
	if c.Call = p.Call; changed {
		c.claim = l.claim(c.Call)
	}
	return c, r
}

// openStep runs one approval of a call.
func (l *leaf) openStep(ctx workflow.Context, c *call, s *panel.Step) *contract.ApprovalResult {
	return l.awaitApproval(ctx, l.stepApproval(ctx, *c, s))
}

// stepApproval returns the approval of a call for a step.
func (l *leaf) stepApproval(ctx workflow.Context, c call, s *panel.Step) *contract.ApprovalInput {
	c.Call = s.Call
	in := l.approvalFor(ctx, c, wording.Below(l.describe(ctx, c.Call), s.Text), contract.ReasonDestructive)
	if in.Basis = c.Basis; !in.Basis.IsZero() {
		in.Waits = &verdict.Verdict{}
		if v := c.Verdict; v != nil {
			in.Waits.Policy, in.Waits.Asks = v.Policy, v.Asks
		}
	}
	if s.Number > 1 { // an imported call brings the UUID of its first approval only
		in.UUID = run.NewUUID(ctx, "approval")
	}
	if rule := s.Rule; rule != nil {
		in.Because, in.Rule, in.Policy = contract.GroundRule, rule.Rule, c.Verdict.Policy
		in.Approvers, in.Timeout, in.Remind, in.Edit = s.Approvers, rule.Expires, rule.Remind, rule.Edit
		in.Always = s.Offer(l.nameInTree(), l.parent.origin().caller)
	}
	return &in
}
