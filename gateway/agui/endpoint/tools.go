package endpoint

import (
	"encoding/json"
	"fmt"

	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/workflows/contract"
)

// inputTool is a tool that the client carries out.
type inputTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Metadata    toolMetadata    `json:"metadata"`
}

// toolMetadata says, under either name, whether calls of a tool need approval. Values other
// than true and false are refused.
type toolMetadata struct {
	Destructive     bool `json:"destructive"`
	DestructiveHint bool `json:"destructiveHint"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (m *toolMetadata) UnmarshalJSON(data []byte) error {
	type plain toolMetadata
	if key := request.Duplicate(data, "destructive", "destructiveHint"); key != "" {
		return fmt.Errorf("metadata: %s is there twice", key)
	}
	*m = toolMetadata{}
	return json.Unmarshal(data, (*plain)(m))
}

const (
	maxTools  = 64
	maxSchema = 64 << 10
)

const anyObject = `{"type":"object","properties":{}}`

func checkTools(tools []inputTool) error {
	if len(tools) > maxTools {
		return unprocessable("tools: expected %d at most", maxTools)
	}
	seen := map[string]bool{}
	for n, t := range tools {
		var schema map[string]json.RawMessage
		switch {
		case t.Name == "" || len(t.Name) > maxName:
			return unprocessable("tools[%d].name: expected 1 to %d bytes", n, maxName)
		case seen[t.Name]:
			return unprocessable("tools[%d].name: %q is there twice", n, t.Name)
		case len(t.Description) > maxSchema:
			return unprocessable("tools[%d].description: expected %d bytes at most", n, maxSchema)
		case len(t.Parameters) > maxSchema:
			return unprocessable("tools[%d].parameters: expected %d bytes at most", n, maxSchema)
		case t.hasParameters() && json.Unmarshal(t.Parameters, &schema) != nil:
			return unprocessable("tools[%d].parameters: expected a JSON Schema", n)
		}
		seen[t.Name] = true
	}
	return nil
}

func (t inputTool) hasParameters() bool {
	return len(t.Parameters) > 0 && string(t.Parameters) != "null"
}

// ownCalls returns a function that reports whether a call is of one of the client's tools and
// not in its messages. It is nil without tools.
func (in runInput) ownCalls() func(call, tool string) bool {
	if len(in.Tools) == 0 {
		return nil
	}
	held, own := in.heldIDs(), map[string]bool{}
	for _, t := range in.Tools {
		own[t.Name] = true
	}
	return func(call, tool string) bool { return own[tool] && !held[call] }
}

// tools returns the client's tools for the turn.
func (in runInput) tools() []contract.Tool {
	var out []contract.Tool
	for _, t := range in.Tools {
		schema := json.RawMessage(anyObject)
		if t.hasParameters() {
			schema = t.Parameters
		}
		out = append(out, contract.Tool{
			Name: t.Name, Description: t.Description, InputSchema: schema,
			DestructiveHint: t.Metadata.Destructive || t.Metadata.DestructiveHint,
		})
	}
	return out
}
