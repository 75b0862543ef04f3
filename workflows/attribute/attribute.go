package attribute

import (
	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/workflows/contract"
)

// The search attributes.
var (
	AgentName      = temporal.NewSearchAttributeKeyKeyword(contract.AttrAgentName)
	ConversationID = temporal.NewSearchAttributeKeyKeyword(contract.AttrConversationID)
	Status         = temporal.NewSearchAttributeKeyKeyword(contract.AttrConversationStatus)
	SessionID      = temporal.NewSearchAttributeKeyKeyword(contract.AttrSessionID)
	ToolName       = temporal.NewSearchAttributeKeyKeyword(contract.AttrToolName)
	PendingSince   = temporal.NewSearchAttributeKeyTime(contract.AttrPendingSince)
	ConfigHash     = temporal.NewSearchAttributeKeyKeyword(contract.AttrConfigHash)
	AgentOwner     = temporal.NewSearchAttributeKeyKeyword(contract.AttrAgentOwner)
	AgentGroups    = temporal.NewSearchAttributeKeyKeywordList(contract.AttrAgentGroups)
	ContextID      = temporal.NewSearchAttributeKeyKeyword(contract.AttrContextID)
	TaskState      = temporal.NewSearchAttributeKeyKeyword(contract.AttrTaskState)
)

// OfOwner returns the search attributes by which an owner finds what is its own.
func OfOwner(owner contract.Identity) []temporal.SearchAttributeUpdate {
	if !owner.Authenticated() {
		return nil
	}
	out := []temporal.SearchAttributeUpdate{AgentOwner.ValueSet(owner.Key())}
	if groups := owner.GroupKeys(); len(groups) > 0 {
		out = append(out, AgentGroups.ValueSet(groups))
	}
	return out
}

// UnsetOwner returns the opposite of OfOwner.
func UnsetOwner(owner contract.Identity) []temporal.SearchAttributeUpdate {
	out := []temporal.SearchAttributeUpdate{AgentOwner.ValueUnset()}
	if len(owner.Groups) > 0 {
		out = append(out, AgentGroups.ValueUnset())
	}
	return out
}

// OfApproval returns the search attributes of an approval.
func OfApproval(in contract.ApprovalInput, configHash string) temporal.SearchAttributes {
	all := []temporal.SearchAttributeUpdate{
		AgentName.ValueSet(in.AgentName), ConversationID.ValueSet(in.ConversationID), SessionID.ValueSet(in.SessionID),
		ToolName.ValueSet(in.Tool), PendingSince.ValueSet(in.CreatedAt), ConfigHash.ValueSet(configHash),
	}
	return temporal.NewSearchAttributes(append(all, OfOwner(in.Owner)...)...)
}
