package activities

import (
	"context"
	"slices"

	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/rates"
)

// limit counts a call for the rate limits. Its error is that of an activity, as fail makes them.
func (t *Tools) limit(ctx context.Context, in contract.CallToolInput) error {
	if t.Rates == nil {
		return nil
	}
	return t.Rates.Hold(ctx, contract.KindToolUnavailable, rates.Call{
		Conversation: in.ConversationID, Key: in.IdempotencyKey + in.Grant, Server: in.Server, Tool: in.Tool, Destructive: in.Destructive, Passage: in.Rate,
		ReadOnly: func() bool {
			return slices.ContainsFunc(t.Caller.Tools(ctx), func(o toolbox.Tool) bool { return o.Name == in.Tool && o.Server == in.Server && o.ReadOnly })
		},
	})
}

// limit counts a message that starts a task.
func (p *Peers) limit(ctx context.Context, in contract.DelegateInput) error {
	if p.Rates == nil || in.TaskID != "" {
		return nil
	}
	return p.Rates.Hold(ctx, contract.KindPeerUnavailable, rates.Call{
		Conversation: in.ConversationID, Key: in.MessageID + in.Grant, Tool: in.Peer.Tool(), Destructive: in.Destructive, Passage: in.Rate,
	})
}
