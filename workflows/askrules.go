package workflows

import (
	"cmp"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/approvers"
	"agent-stop-and-go/workflows/contract/verdict"
	"agent-stop-and-go/workflows/run"
	"agent-stop-and-go/workflows/wording"
)

// askBefore asks before a call runs: once, or as the rules say that ask about it, until somebody
// refuses.
func (l *leaf) askBefore(ctx workflow.Context, c call) contract.ApprovalResult {
	if !c.Verdict.Asking() {
		return l.ask(ctx, c, l.describe(ctx, c.Call), contract.ReasonDestructive)
	}
	asked := ruleApprovals{leaf: l, call: c}
	var r contract.ApprovalResult
	for _, a := range c.Verdict.Asks {
		if r = asked.ask(ctx, a); r.Decision != contract.Approved || ctx.Err() != nil {
			break
		}
	}
	return r
}

// ruleApprovals are the approvals of a call that rules ask for, one after the other.
type ruleApprovals struct {
	leaf *leaf
	call call
	made int // so far
	// deputized are decisions in another's place. Who has had a part in one decides for no other rule.
	deputized []contract.ApprovalResult
}

// ask asks as many people as the rule says. Nobody counts twice.
func (s *ruleApprovals) ask(ctx workflow.Context, a verdict.Approval) (r contract.ApprovalResult) {
	rules := approvers.Required(a, s.leaf.parent.origin().agent.Approvers)
	for _, earlier := range s.deputized {
		rules = approvers.ExceptThose(rules, earlier)
	}
	step := wording.RuleStep{Rule: a.Rule, Of: max(a.Count, 1)}
	for step.Number = 1; step.Number <= step.Of; step.Number++ {
		if r = s.one(ctx, a, rules, step); r.Decision != contract.Approved || ctx.Err() != nil {
			break
		}
		if r.For != nil {
			s.deputized = append(s.deputized, r)
		}
		rules, step.Approved = approvers.ExceptThose(rules, r), append(step.Approved, r.ShownBy())
	}
	return r
}

// one asks one person. If the approval expires, those are asked whom the rule names for that.
func (s *ruleApprovals) one(ctx workflow.Context, a verdict.Approval, rules []string, step wording.RuleStep) contract.ApprovalResult {
	a.Expires = cmp.Or(a.Expires, s.leaf.parent.origin().agent.ApprovalTimeout)
	r := s.open(ctx, a, rules, step)
	if r.Decision != contract.Expired || ctx.Err() != nil || !a.Keep && len(a.Then) == 0 {
		return r
	}
	step.Expired = true
	if len(a.Then) > 0 {
		rules = approvers.Instead(rules, a.Then)
	}
	a.Expires = 0
	return s.open(ctx, a, rules, step)
}

func (s *ruleApprovals) open(ctx workflow.Context, a verdict.Approval, rules []string, step wording.RuleStep) contract.ApprovalResult {
	l, c := s.leaf, s.call
	in := l.approvalFor(ctx, c, l.describe(ctx, c.Call)+"\n\n"+step.Text(c.Verdict.Text), contract.ReasonDestructive)
	if s.made > 0 { // an imported call brings the UUID of its first approval only
		in.UUID = run.NewUUID(ctx, "approval")
	}
	s.made++
	in.Because, in.Rule, in.Policy = contract.GroundRule, step.Rule, c.Verdict.Policy
	in.Approvers, in.Timeout, in.Remind = rules, a.Expires, a.Remind
	return l.awaitApproval(ctx, in)
}
