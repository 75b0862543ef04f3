package contract

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
