package commands

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"agent-stop-and-go/mcpservers/commands/definition"
	"agent-stop-and-go/mcpservers/commands/profile"
	"agent-stop-and-go/mcpservers/commands/sandbox"

	"github.com/mark3labs/mcp-go/mcp"
)

// describe returns what clients see of a tool.
func (s *Server) describe(t Tool) mcp.Tool {
	name := t.Name
	if s.options.ConvertDashes {
		name = strings.ReplaceAll(name, "-", "_")
	}
	properties, required := t.Parameters.Schema()
	tool := mcp.NewTool(name, mcp.WithDescription(s.description(t)), mcp.WithToolAnnotation(annotation(t)))
	tool.InputSchema = mcp.ToolInputSchema{Type: "object", Properties: properties, Required: required, AdditionalProperties: false}
	return tool
}

// annotation states every hint: what a file leaves out is the most dangerous value, so callers ask.
func annotation(t Tool) mcp.ToolAnnotation {
	h := t.Hints
	if h == nil {
		h = new(definition.Hints)
	}
	or := func(hint *bool, otherwise bool) *bool {
		if hint == nil {
			return &otherwise
		}
		return hint
	}
	readOnly := or(h.ReadOnly, false)
	return mcp.ToolAnnotation{
		Title: strings.TrimSuffix(t.Short, "."), ReadOnlyHint: readOnly, DestructiveHint: or(h.Destructive, !*readOnly),
		IdempotentHint: or(h.Idempotent, *readOnly), OpenWorldHint: or(h.OpenWorld, t.Network),
	}
}

// description is short and long text, and what this machine does not limit.
func (s *Server) description(t Tool) string {
	parts := []string{strings.TrimSpace(t.Short)}
	if long := strings.TrimSpace(t.Long); long != "" {
		parts = append(parts, long)
	}
	if missing := missing(s.box.Abilities(), t.Network); len(missing) > 0 {
		parts = append(parts, "This machine cannot limit everything: "+strings.Join(missing, "; ")+".")
	}
	return strings.Join(parts, "\n\n")
}

// missing words the limits that a machine does not have.
func missing(can sandbox.Abilities, network bool) (missing []string) {
	if !can.Files {
		missing = append(missing, "the command can use every file of the server's user")
	}
	if !network && !can.Network {
		if can.TCP {
			missing = append(missing, "only TCP is blocked, other network traffic of the command is not")
		} else {
			missing = append(missing, "the network is not blocked")
		}
	}
	if !can.Memory {
		missing = append(missing, "memory is not limited")
	}
	if !can.Children {
		missing = append(missing, "processes that leave the command's group may go on after it")
	}
	if !can.Death {
		missing = append(missing, "the command goes on if the server is killed")
	}
	return missing
}

// digestOf identifies a set of definitions, as they are after their profile was applied.
func digestOf(set profile.Set) string {
	text, _ := json.Marshal(set.Files) // texts, numbers, lists and maps: this cannot fail
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
