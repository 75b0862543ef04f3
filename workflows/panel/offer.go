package panel

import (
	"agent-stop-and-go/workflows/contract/grant"
	"agent-stop-and-go/workflows/contract/key"
	"agent-stop-and-go/workflows/contract/verdict"
)

// Offer returns what whoever approves the call may grant for later ones of its node, in the work for a
// message of somebody: of a call of a server that was shown as the model has made it, in the first approval
// that it needs. nil is nothing; who is nil if that is not known.
func (s Step) Offer(node string, who *verdict.Caller) *grant.Offer {
	c := s.Call
	o := c.Verdict.Offer()
	if o == nil || s.Number > 1 || c.Peer != nil || c.Client || c.Server == "" || c.Binding == nil || c.Arguments.Blob != nil {
		return nil
	}
	if who == nil {
		return o.For(node, "", "")
	}
	sender := ""
	if who.Subject != "" {
		sender = key.Of(who.Issuer, who.Subject)
	}
	return o.For(node, sender, who.Request)
}
