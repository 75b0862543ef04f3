package contract

import "encoding/json"

// Binding is the server and the tool of an approved call. Headers, variables and secrets are
// not part of it, so that new keys do not ask again.
type Binding struct {
	// Address is the server's URL or command line, without secrets.
	Address string `json:"address"`
	// SHA256 is the hash of the tool's Definition, which is in the blob store.
	SHA256     string `json:"definition_sha256,omitempty"`
	Definition JSON   `json:"definition,omitzero"`
}

// Same reports whether a call goes to the same server and tool.
func (b Binding) Same(other Binding) bool {
	return b.Address == other.Address && b.SHA256 == other.SHA256
}

// TargetChange is the detail of a failure with KindChanged: the current target of the call.
type TargetChange struct {
	Binding Binding `json:"binding"`
	// Difference compares the approved target with the current one. If it is cut, Whole has all
	// of it.
	Difference string `json:"difference"`
	Whole      Text   `json:"whole,omitzero"`
}

// Definition is a tool server's declaration of a tool. A grant is bound to it.
type Definition struct {
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
}
