package workflows

import (
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/verdict"
)

// facts are what the agent's rules know of the calls that follow.
func (l *leaf) facts(ctx workflow.Context) *verdict.Facts {
	a, used := l.parent.origin(), l.totalConsumption(ctx).Conversation.Usage
	return &verdict.Facts{
		Caller: a.caller, Chain: a.chain,
		Usage: verdict.Usage{InputTokens: used.InputTokens, OutputTokens: used.OutputTokens, Calls: used.Calls, CostNanos: used.Cost},
	}
}

// callerOf returns the proven sender of a message. What a message says of somebody who is not
// proven does not count.
func callerOf(m contract.MessageSignal) verdict.Caller {
	c := verdict.Caller{Subject: m.Identity.Subject, Issuer: m.Identity.Issuer, Channel: m.Identity.Channel}
	if m.Identity.Authenticated() {
		c.Groups, c.Scopes = m.Groups, m.Scopes
	}
	return c
}
