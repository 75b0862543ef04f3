package workflows

import (
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/workflows/contract"
)

var (
	attrAgentName      = temporal.NewSearchAttributeKeyKeyword(contract.AttrAgentName)
	attrConversationID = temporal.NewSearchAttributeKeyKeyword(contract.AttrConversationID)
	attrStatus         = temporal.NewSearchAttributeKeyKeyword(contract.AttrConversationStatus)
	attrSessionID      = temporal.NewSearchAttributeKeyKeyword(contract.AttrSessionID)
	attrToolName       = temporal.NewSearchAttributeKeyKeyword(contract.AttrToolName)
	attrPendingSince   = temporal.NewSearchAttributeKeyTime(contract.AttrPendingSince)
	attrConfigHash     = temporal.NewSearchAttributeKeyKeyword(contract.AttrConfigHash)
)

// SearchAttributes lists the attributes a namespace must know before a
// conversation can start in it.
func SearchAttributes() map[string]enumspb.IndexedValueType {
	return map[string]enumspb.IndexedValueType{
		contract.AttrAgentName:          enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		contract.AttrConversationID:     enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		contract.AttrConversationStatus: enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		contract.AttrSessionID:          enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		contract.AttrToolName:           enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		contract.AttrPendingSince:       enumspb.INDEXED_VALUE_TYPE_DATETIME,
		contract.AttrConfigHash:         enumspb.INDEXED_VALUE_TYPE_KEYWORD,
	}
}
