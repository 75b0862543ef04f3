package workflows

import (
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/activity"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/verdict"
	"agent-stop-and-go/workflows/decide"
	"agent-stop-and-go/workflows/doubt"
	"agent-stop-and-go/workflows/wording"
)

// runPeer is the work of an a2a node: it delegates its prompt, or the user's message, to
// another agent.
func (l *leaf) runPeer(ctx workflow.Context) contract.NodeResult {
	peer := *l.node.Peer
	c, err := l.peerCall(ctx, peer)
	switch {
	case ctx.Err() != nil:
		return l.interruptedResult()
	case err != nil:
		return endedWith(contract.OutcomeFailed, wording.DelegationFailure(activity.Failure(err)))
	}
	recorded := l.recordCall(ctx, c, l.journal.nextID())
	if held := decide.Next([]contract.Call{c}, l.node.SkipApproval).Answered; len(held) > 0 {
		l.recordResult(ctx, recorded, held[0])
		return l.delegationResult(ctx, callOutcome{CallToolResult: held[0]})
	}
	if decide.Asks(c, l.node.SkipApproval) {
		var r *contract.ApprovalResult
		recorded, r = l.askBefore(ctx, recorded)
		if ctx.Err() != nil {
			return l.interruptedResult()
		}
		if r.Decision != contract.Approved {
			return endedWith(contract.OutcomeRejected, wording.AfterRefusal(doubt.Recorded(ctx, *r)))
		}
	}
	r := l.delegate(ctx, recorded)
	l.recordResult(ctx, recorded, r.CallToolResult)
	return l.delegationResult(ctx, r)
}

// delegationResult converts the outcome of a delegation to the node's result.
func (l *leaf) delegationResult(ctx workflow.Context, r callOutcome) contract.NodeResult {
	switch {
	case ctx.Err() != nil:
		return l.interruptedResult()
	case r.refused != "":
		return endedWith(contract.OutcomeRejected, r.refused)
	case r.AuthRequired != "":
		out := endedWith(contract.OutcomeFailed, r.login)
		out.AuthRequired = r.AuthRequired
		return out
	case r.IsError:
		return contract.NodeResult{Outcome: contract.OutcomeFailed, Output: r.Text}
	}
	return contract.NodeResult{Outcome: contract.OutcomeDone, Output: r.Text}
}

// peerCall returns the call of an a2a node, with its message filled in.
func (l *leaf) peerCall(ctx workflow.Context, peer contract.Peer) (contract.Call, error) {
	in := contract.ComposeInput{Template: l.node.Prompt, Values: l.values.For(l.node.Keys), Arguments: true}
	if l.node.Prompt.IsZero() {
		message, _ := l.values.Get(contract.KeyUserMessage)
		in = contract.ComposeInput{Parts: []contract.Text{message}, Arguments: true}
	}
	in.Judged = &verdict.Delegation{Tool: peer.Tool(), Destructive: peer.Destructive, Node: l.nameInTree(), Facts: l.facts(ctx)}
	out, err := activity.RunLocal(ctx, contract.ActivityCompose, activity.LocalOptions(composeTimeout, wording.MessageSummary(peer.Name)), in)
	c := contract.Call{
		ID: "delegate", Name: peer.Tool(), Peer: &peer, Destructive: peer.Destructive,
		Arguments: out.Arguments, SHA256: out.SHA256, Verdict: out.Verdict, Audited: out.Audited,
	}
	if c.Destructive {
		c.Because = contract.GroundSetting
	}
	return c, err
}
