package workflows

import (
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/grant"
	"agent-stop-and-go/workflows/contract/key"
	"agent-stop-and-go/workflows/contract/verdict"
	"agent-stop-and-go/workflows/panel"
	"agent-stop-and-go/workflows/run"
	"agent-stop-and-go/workflows/wording"
)

// askBefore asks before a call runs: once, or as the rules say that ask about it, until somebody
// refuses. It returns the call as it was approved.
func (l *leaf) askBefore(ctx workflow.Context, c call) (call, contract.ApprovalResult) {
	a := l.parent.origin()
	p := panel.Panel{Call: c.Call, SkipApproval: l.node.SkipApproval, Approvers: a.agent.Approvers, Timeout: a.agent.ApprovalTimeout, Owner: a.owner}
	p.Open = func(ctx workflow.Context, s panel.Step) contract.ApprovalResult {
		asked := c
		asked.Call = s.Call
		return l.openStep(ctx, asked, s)
	}
	r := p.Run(ctx)
	changed := p.Call.SHA256 != c.SHA256
	if c.Call = p.Call; changed {
		c.claim = l.claim(c.Call)
	}
	return c, r
}

func (l *leaf) openStep(ctx workflow.Context, c call, s panel.Step) contract.ApprovalResult {
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
		in.Always = l.standingOffer(c, s)
	}
	return l.awaitApproval(ctx, in)
}

// standingOffer returns what whoever approves a call may grant for later ones: of a call of a server that
// was shown as the model has made it, in the first approval that it needs.
func (l *leaf) standingOffer(c call, s panel.Step) *grant.Offer {
	o, who := c.Verdict.Offer(), l.parent.origin().caller
	if o == nil || s.Number > 1 || c.Peer != nil || c.Client || c.Server == "" || c.Binding == nil || c.Arguments.Blob != nil {
		return nil
	}
	if who == nil {
		return o.For(l.nameInTree(), "", "")
	}
	sender := ""
	if who.Subject != "" {
		sender = key.Of(who.Issuer, who.Subject)
	}
	return o.For(l.nameInTree(), sender, who.Request)
}
