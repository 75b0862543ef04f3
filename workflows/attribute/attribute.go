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
