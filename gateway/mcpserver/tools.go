package mcpserver

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"agent-stop-and-go/gateway/offers"
)

var (
	inputSchema = json.RawMessage(`{
  "type": "object",
  "properties": {
    "message": {"type": "string", "description": "What to ask or order. Leave it out to wait for what becomes of a conversation."},
    "conversation": {"type": "string", "description": "The conversation of an earlier result, to go on with it. Leave it out to begin a new one."}
  }
}`)
	outputSchema = json.RawMessage(`{
  "type": "object",
  "properties": {
    "conversation": {"type": "string", "description": "The ID of the conversation"},
    "status": {"type": "string", "enum": ["completed", "waiting", "failed", "cancelled"]},
    "response": {"type": "string", "description": "What the agent said"},
    "waiting": {
      "type": "array",
      "description": "What waits for a decision or an answer of a person",
      "items": {
        "type": "object",
        "properties": {
          "id": {"type": "string"},
          "tool": {"type": "string"},
          "description": {"type": "string"},
          "reason": {"type": "string", "description": "Why a person is asked"},
          "url": {"type": "string", "description": "Where it is shown and decided"}
        },
        "required": ["id", "tool", "description", "url"]
      }
    }
  },
  "required": ["conversation", "status", "response"]
}`)
)

// addTools adds a tool for the agent and one for each node that can be asked alone. They are not
// destructive by themselves: what the agent does asks for approvals where it has to.
func (s *Server) addTools(m *server.MCPServer) {
	agent, used := s.Models.Agent, map[string]bool{}
	add := func(name, description string, t offers.Target) {
		m.AddTool(mcp.Tool{
			Name: toolName(name, used), Description: description, RawInputSchema: inputSchema, RawOutputSchema: outputSchema,
			Annotations: mcp.ToolAnnotation{
				ReadOnlyHint: mcp.ToBoolPtr(false), DestructiveHint: mcp.ToBoolPtr(false), IdempotentHint: mcp.ToBoolPtr(false), OpenWorldHint: mcp.ToBoolPtr(true),
			},
		}, s.tool(t))
	}
	about := strings.TrimRight(cmp.Or(agent.Description, "Asks the agent "+agent.Name), ". ")
	add(agent.Name, about+". If the answer says that an approval waits, call it again with the same conversation and without a message when that is decided.", offers.Target{Name: agent.Name})
	for _, n := range s.Models.Nodes() {
		t, err := s.Models.Target(agent.Name + ":" + n.Name)
		if err != nil {
			continue // the name of the agent has a character that separates
		}
		add(agent.Name+"_"+n.Name, cmp.Or(n.Description, fmt.Sprintf("Asks only the part %s of the agent %s.", n.Name, agent.Name)), t)
	}
}

var unfit = regexp.MustCompile(`[^a-zA-Z0-9_-]+`)

// maxToolName is the longest name of a function at model providers.
const maxToolName = 64

// toolName returns a name that models can call and that no other tool has.
func toolName(name string, used map[string]bool) string {
	name = cmp.Or(strings.Trim(unfit.ReplaceAllString(name, "_"), "_"), "agent")
	name = name[:min(len(name), maxToolName)]
	for base, n := name, 2; used[name]; n++ {
		suffix := fmt.Sprintf("_%d", n)
		name = base[:min(len(base), maxToolName-len(suffix))] + suffix
	}
	used[name] = true
	return name
}
