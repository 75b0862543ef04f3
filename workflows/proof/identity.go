package proof

import (
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/attribute"
	"agent-stop-and-go/workflows/contract"
)

// changeProofs marks histories in which an identity counts only if it is proven.
const changeProofs = "identities-proven"

// Counts reports whether the identity in a payload is proven. In histories from before proofs
// every identity counts.
func (c Checker) Counts(ctx workflow.Context, name string, payload any, proof string) bool {
	return c.Check(ctx, name, payload, proof) || workflow.GetVersion(ctx, changeProofs, workflow.DefaultVersion, 1) < 1
}

// Sender returns the sender of a signal to a conversation, or false if the identity in it does
// not count. With authentication, a signal without an identity was typed by hand.
func (c Checker) Sender(ctx workflow.Context, name string, payload any, claimed contract.Identity, proof string, owner contract.Identity) (contract.Identity, bool) {
	if !claimed.Authenticated() {
		return Typist(owner), true
	}
	return claimed, c.Counts(ctx, name, payload, proof)
}

// Typist returns the sender of a signal that was typed by hand: nobody is known, but the channel
// is. It is empty for a conversation without an owner.
func Typist(owner contract.Identity) contract.Identity {
	if !owner.Authenticated() {
		return contract.Identity{}
	}
	return contract.Identity{Channel: contract.ChannelSignal}
}

// Author returns an identity for a message, or nil if nothing is known of the sender.
func Author(i contract.Identity) *contract.Identity {
	if !i.Authenticated() && i.Channel == "" {
		return nil
	}
	return &i
}

// Start returns the input of a conversation without the identities that do not count: whoever
// started it by hand is not known. An earlier run of the same conversation has checked them.
func (c Checker) Start(ctx workflow.Context, in contract.ConversationInput) contract.ConversationInput {
	claimed := in.Owner.Authenticated() || in.First != nil && in.First.Identity.Authenticated()
	if !claimed || workflow.GetInfo(ctx).ContinuedExecutionRunID != "" || c.Counts(ctx, contract.WorkflowConversation, in.Start(), in.Proof) {
		return in
	}
	unset := attribute.UnsetOwner(in.Owner)
	in.Owner = contract.Identity{}
	if in.First != nil {
		first := *in.First
		first.Identity = contract.Identity{}
		in.First = &first
	}
	if err := workflow.UpsertTypedSearchAttributes(ctx, unset...); err != nil {
		workflow.GetLogger(ctx).Error("remove an owner that is not proven", "error", err)
	}
	return in
}
