package toolbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/difference"
	"agent-stop-and-go/workflows/contract/redact"
)

// Target is the server of a tool's calls, and the definition of the tool. A grant is bound to
// it.
type Target struct {
	// Address is the server's URL or command line, without secrets.
	Address string
	// Definition is the canonical JSON of a difference.Definition, nil for a tool that the server
	// does not list.
	Definition json.RawMessage
}

// Digest returns the SHA-256 of the definition, or "" without one.
func (t Target) Digest() string {
	if t.Definition == nil {
		return ""
	}
	return contract.Hash(t.Definition)
}

// matches reports whether the target is the approved one.
func (t Target) matches(approved contract.Binding) bool {
	return approved.Same(contract.Binding{Address: t.Address, SHA256: t.Digest()})
}

// Target returns the target of the tool's calls. It is zero for our own tools.
func (t Tool) Target() Target {
	if t.Server == "" {
		return Target{}
	}
	schema, err := CanonicalArguments(t.InputSchema)
	if err != nil { // not an object, against the protocol: used unchanged
		schema = t.InputSchema
	}
	definition, err := encode(difference.Definition{Description: t.Description, InputSchema: schema})
	if err != nil {
		definition = fmt.Appendf(nil, "%q", t.Description+string(t.InputSchema))
	}
	return Target{Address: t.Address, Definition: definition}
}

// address returns the server's URL or command line without secrets.
func (s Server) address() string {
	if s.URL != "" {
		return redact.URL(s.URL)
	}
	words := redact.Command(s.Command, s.Args)
	for i, w := range words {
		if w == "" || strings.ContainsAny(w, " \t\n\"'\\") {
			words[i] = fmt.Sprintf("%q", w)
		}
	}
	return strings.Join(words, " ")
}

var errChanged = errors.New("it would go elsewhere, or to another tool, than was approved")

// changedTarget returns the target of a call over a connection, if it differs from the approved
// one.
func (c Call) changedTarget(conn *conn) (Target, bool) {
	if c.Bound == nil {
		return Target{}, false
	}
	now := conn.target(c.Tool)
	return now, !now.matches(*c.Bound)
}

// target returns the current target of a tool.
func (c *conn) target(tool string) Target {
	name := c.server.toolName(c.server.bareName(tool))
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range c.tools {
		if t.Name == name {
			return t.Target()
		}
	}
	return Target{Address: c.server.address()}
}

// storeList stores the server's current list.
func (c *conn) storeList(list listing) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tools = list.tools
}
