package rules

import (
	"cmp"
	"context"
	"fmt"

	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract/grant"
	"agent-stop-and-go/workflows/contract/key"
	"agent-stop-and-go/workflows/contract/standing"
	"agent-stop-and-go/workflows/contract/verdict"
)

// Grants are the standing grants of an agent.
type Grants interface {
	// Use takes a use of a grant that covers a call; nil if none does. It counts a call once, by its key.
	Use(ctx context.Context, c standing.Call) (*grant.Use, error)
}

// granted lets a call run that would ask, if the rules offer standing grants for it and there is one. If
// that cannot be found out, the call asks.
func (j *Judge) granted(ctx context.Context, c verdict.Call, tool toolbox.Tool, v *verdict.Verdict) *verdict.Verdict {
	offer, to := v.Offer(), tool.Target()
	if offer == nil || j.Grants == nil || j.Draft == "" || to.Address == "" || to.Definition == nil || c.Server != tool.Server {
		return v
	}
	if f := c.Facts; f == nil || f.Caller == nil && f.Owner == "" { // not known whose call it is
		return v
	}
	digest, err := toolbox.Digest(c.Arguments)
	if err != nil {
		return v
	}
	call := standing.Call{
		Conversation: j.Conversation, Node: c.Node, Server: c.Server, Tool: c.Tool, Address: to.Address, Definition: to.Digest(),
		Rules: offer.Rules, Asks: v.Asks[0], Arguments: c.Arguments, Key: standing.KeyOf(j.Conversation, j.Draft, len(j.About.Reply), c.Tool, c.Server, digest),
	}
	if f := c.Facts; f != nil && f.Caller != nil {
		call.Turn = f.Caller.Request
		if f.Caller.Subject != "" {
			call.Caller = key.Of(f.Caller.Issuer, f.Caller.Subject)
		}
		call.Owner = cmp.Or(f.Owner, call.Caller)
	}
	use, err := j.Grants.Use(ctx, call)
	out := *v
	switch {
	case err != nil:
		out.Text = fmt.Sprintf("it is not known whether it is approved already: %.300v", err)
	case use != nil:
		out.Outcome, out.Asks, out.Text, out.Grant = verdict.Allow, nil, "", use
	}
	return &out
}
