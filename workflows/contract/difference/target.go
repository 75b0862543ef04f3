package difference

import (
	"encoding/json"

	"agent-stop-and-go/workflows/contract"
)

// TargetChange is the detail of a failure with KindChanged: the current target of the call.
type TargetChange struct {
	Binding contract.Binding `json:"binding"`
	// Difference compares the approved target with the current one. If it is cut, Whole has all
	// of it.
	Difference string        `json:"difference"`
	Whole      contract.Text `json:"whole,omitzero"`
}

// Definition is a tool server's declaration of a tool. A grant is bound to it.
type Definition struct {
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
}
