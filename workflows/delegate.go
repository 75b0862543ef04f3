package workflows

import (
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

// hand is the work of an a2a node: it delegates its prompt, or the user's
// message, to another agent.
func (l *leaf) hand(ctx workflow.Context) contract.NodeResult {
	peer := *l.node.Peer
	c, err := l.delegation(ctx, peer)
	switch {
	case ctx.Err() != nil:
		return l.interrupted()
	case err != nil:
		return ended(contract.OutcomeFailed, wording.DelegationFailure(failure(err)))
	}
	made := l.recordCall(ctx, c, l.next())
	if peer.Destructive && !l.node.AtOnce {
		r := l.ask(ctx, made, l.describe(ctx, made.Call), contract.ReasonDestructive)
		if ctx.Err() != nil {
			return l.interrupted()
		}
		if r.Decision != contract.Approved {
			return ended(contract.OutcomeRejected, wording.AfterRefusal(recordedReason(ctx, r)))
		}
	}
	r := l.delegate(ctx, made)
	l.recordResult(ctx, made, r.CallToolResult)
	return l.outcomeOf(ctx, r)
}

// outcomeOf makes a delegation's result the node's.
func (l *leaf) outcomeOf(ctx workflow.Context, r made) contract.NodeResult {
	switch {
	case ctx.Err() != nil:
		return l.interrupted()
	case r.refused != "":
		return ended(contract.OutcomeRejected, r.refused)
	case r.AuthRequired != "":
		out := ended(contract.OutcomeFailed, r.login)
		out.AuthRequired = r.AuthRequired
		return out
	case r.IsError:
		return contract.NodeResult{Outcome: contract.OutcomeFailed, Output: r.Text}
	}
	return contract.NodeResult{Outcome: contract.OutcomeDone, Output: r.Text}
}

// delegation is the call that an a2a node makes, with its message filled in.
func (l *leaf) delegation(ctx workflow.Context, peer contract.Peer) (contract.Call, error) {
	in := contract.ComposeInput{Template: l.node.Prompt, Values: l.values.For(l.node.Keys), Arguments: true}
	if l.node.Prompt.IsZero() {
		message, _ := l.values.Get(contract.KeyUserMessage)
		in = contract.ComposeInput{Parts: []contract.Text{message}, Arguments: true}
	}
	out, err := runLocal(ctx, contract.ActivityCompose, lean(composeTimeout, wording.MessageSummary(peer.Name)), in)
	return contract.Call{
		ID: "delegate", Name: peer.Tool(), Peer: &peer, Destructive: peer.Destructive,
		Arguments: out.Arguments, SHA256: out.SHA256,
	}, err
}
