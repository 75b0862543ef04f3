package toolbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"agent-stop-and-go/workflows/contract"
)

// Target is the server of a tool's calls, and the definition of the tool. A grant is bound to
// it.
type Target struct {
	// Address is the server's URL or command line, without secrets.
	Address string
	// Definition is the canonical JSON of a contract.Definition, nil for a tool that the server
	// does not list.
	Definition json.RawMessage
}

// Digest is the SHA-256 of the definition, and empty without one.
func (t Target) Digest() string {
	if t.Definition == nil {
		return ""
	}
	return contract.Hash(t.Definition)
}

// is reports whether the target is the one that was approved.
func (t Target) is(approved contract.Binding) bool {
	return approved.Same(contract.Binding{Address: t.Address, SHA256: t.Digest()})
}

// Target is where the tool's calls go. It is zero for one of our own tools.
func (t Tool) Target() Target {
	if t.Server == "" {
		return Target{}
	}
	schema, err := CanonicalArguments(t.InputSchema)
	if err != nil { // not an object, against the protocol: used unchanged
		schema = t.InputSchema
	}
	definition, err := encode(contract.Definition{Description: t.Description, InputSchema: schema})
	if err != nil {
		definition = fmt.Appendf(nil, "%q", t.Description+string(t.InputSchema))
	}
	return Target{Address: t.Address, Definition: definition}
}

// address is the server's URL or command line as people may see it.
func (s Server) address() string {
	if s.URL != "" {
		return contract.PublicURL(s.URL)
	}
	words := contract.PublicCommand(s.Command, s.Args)
	for i, w := range words {
		if w == "" || strings.ContainsAny(w, " \t\n\"'\\") {
			words[i] = fmt.Sprintf("%q", w)
		}
	}
	return strings.Join(words, " ")
}

var errChanged = errors.New("it would go elsewhere, or to another tool, than was approved")

// elsewhere is the target of a call over a connection, if it differs from the approved one.
func (c Call) elsewhere(conn *conn) (Target, bool) {
	if c.Bound == nil {
		return Target{}, false
	}
	now := conn.target(c.Tool)
	return now, !now.is(*c.Bound)
}

// target is the present target of a tool.
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

// lists stores the server's present list.
func (c *conn) lists(list listing) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tools = list.tools
}
