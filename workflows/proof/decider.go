package proof

import (
	"encoding/json"
	"errors"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/approvers"
	"agent-stop-and-go/workflows/wording"
)

// changeDeciders marks histories in which an identity decides only if it is proven and among the
// approvers.
const changeDeciders = "deciders-checked"

// Decider returns why the identity in a signal may not decide an approval, or nil. The gateway
// has asked before. A signal without an identity is an operator's, who may end the workflow
// anyway.
func (c Checker) Decider(ctx workflow.Context, in contract.ApprovalInput, raw json.RawMessage, given contract.DecideSignal) error {
	if !given.Identity.Authenticated() {
		return nil
	}
	err := decider(ctx, in, given, c.Check(ctx, contract.SignalDecide, raw, given.Proof))
	if err == nil || workflow.GetVersion(ctx, changeDeciders, workflow.DefaultVersion, 1) < 1 {
		return nil
	}
	return err
}

// ValidateDecider is Decider for the validator of an update with a name.
func (c Checker) ValidateDecider(ctx workflow.Context, in contract.ApprovalInput, name string, raw json.RawMessage, given contract.DecideSignal) error {
	if !given.Identity.Authenticated() {
		return nil
	}
	return decider(ctx, in, given, c.Holds(name, raw, given.Proof))
}

func decider(ctx workflow.Context, in contract.ApprovalInput, given contract.DecideSignal, proven bool) error {
	switch {
	case !proven:
		return errors.New(wording.TextUnproven)
	case given.For != nil:
		if _, ok := approvers.Deputizes(given.Identity, in.Owner.Key(), in.Approvers, *given.For, in.UUID, workflow.Now(ctx)); !ok {
			return errors.New(wording.TextNotApprover)
		}
	case !approvers.May(given.Identity, in.Owner.Key(), in.Approvers):
		return errors.New(wording.TextNotApprover)
	}
	return nil
}
