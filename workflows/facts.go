package workflows

import (
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/key"
	"agent-stop-and-go/workflows/contract/verdict"
)

// facts are what the agent's rules know of the calls that follow.
func (l *leaf) facts(ctx workflow.Context) *verdict.Facts {
	a, used := l.parent.origin(), l.totalConsumption(ctx).Conversation.Usage
	owner := a.owner.Key()
	if c := a.caller; !a.owner.Authenticated() || c != nil && owner == key.Of(c.Issuer, c.Subject) {
		owner = ""
	}
	return &verdict.Facts{
		Caller: a.caller, Owner: owner, Chain: a.chain,
		Usage: verdict.Usage{InputTokens: used.InputTokens, OutputTokens: used.OutputTokens, Calls: used.Calls, CostNanos: used.Cost},
	}
}

// callerOf returns what is proven of the sender of a message. It is not known of a message whose
// gateway sent no rights with it, because that has no rules or is of an earlier version.
func callerOf(m contract.MessageSignal) *verdict.Caller {
	i := m.Identity
	if i.Authenticated() && len(m.Scopes) == 0 {
		return nil
	}
	c := &verdict.Caller{Subject: i.Subject, Issuer: i.Issuer, Channel: i.Channel, Request: m.RequestID}
	if i.Authenticated() {
		c.Groups, c.Scopes = m.Groups, m.Scopes
	}
	return c
}
