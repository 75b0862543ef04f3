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
	ContextID      = temporal.NewSearchAttributeKeyKeyword(contract.AttrContextID)
	TaskState      = temporal.NewSearchAttributeKeyKeyword(contract.AttrTaskState)
)

// OfApproval returns the search attributes of an approval.
func OfApproval(in contract.ApprovalInput, configHash string) temporal.SearchAttributes {
	all := []temporal.SearchAttributeUpdate{
		AgentName.ValueSet(in.AgentName), ConversationID.ValueSet(in.ConversationID), SessionID.ValueSet(in.SessionID),
		ToolName.ValueSet(in.Tool), PendingSince.ValueSet(in.CreatedAt), ConfigHash.ValueSet(configHash),
	}
	if in.Owner.Authenticated() {
		all = append(all, AgentOwner.ValueSet(in.Owner.Key()))
	}
	return temporal.NewSearchAttributes(all...)
}
