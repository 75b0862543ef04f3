package openai

import (
	"encoding/json"
	"strings"

	"agent-stop-and-go/config/outputschema"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// Function is a tool that the client executes.
type Function struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

const (
	maxTools  = 128
	maxSchema = 64 << 10
	maxName   = 256
)

// ClientTools returns functions as tools that the sender of a message executes.
func ClientTools(functions []Function) ([]contract.Tool, error) {
	if len(functions) > maxTools {
		return nil, service.Errorf(contract.KindInvalid, "tools: expected %d at most", maxTools)
	}
	var out []contract.Tool
	seen := map[string]bool{}
	for n, f := range functions {
		var schema map[string]json.RawMessage
		given := len(f.Parameters) > 0 && string(f.Parameters) != "null"
		switch {
		case f.Name == "" || len(f.Name) > maxName:
			return nil, service.Errorf(contract.KindInvalid, "tools[%d]: expected a name of 1 to %d bytes", n, maxName)
		case seen[f.Name]:
			return nil, service.Errorf(contract.KindInvalid, "tools[%d]: %q is there twice", n, service.Printable(f.Name))
		case len(f.Description) > maxSchema || len(f.Parameters) > maxSchema:
			return nil, service.Errorf(contract.KindInvalid, "tools[%d]: expected %d bytes at most", n, maxSchema)
		case given && json.Unmarshal(f.Parameters, &schema) != nil:
			return nil, service.Errorf(contract.KindInvalid, "tools[%d].parameters: expected a JSON Schema", n)
		}
		seen[f.Name] = true
		if !given {
			f.Parameters = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		out = append(out, contract.Tool{Name: f.Name, Description: f.Description, InputSchema: f.Parameters})
	}
	return out, nil
}

// Format is the form of an answer that a client asks for.
type Format struct {
	Type        string          `json:"type"`
	Name        string          `json:"name,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"`
	Description *string         `json:"description,omitempty"`
	Strict      *bool           `json:"strict,omitempty"`
	// JSONSchema has name and schema in chat/completions.
	JSONSchema *struct {
		Name   string          `json:"name"`
		Schema json.RawMessage `json:"schema"`
	} `json:"json_schema,omitempty"`
}

// OutputSchema returns the schema of an answer, nil for text. member is what the request calls the form, for errors.
func (f *Format) OutputSchema(member string, agent contract.Agent) (json.RawMessage, error) {
	if f == nil || f.Type == "" || f.Type == "text" {
		return nil, nil
	}
	if root := agent.Root(); root.Type != contract.NodeLLM {
		return nil, service.Errorf(contract.KindInvalid, "%s: the form of an answer can be asked of an agent that is one llm node; this is a %s node", member, root.Type)
	}
	schema := f.Schema
	if f.JSONSchema != nil {
		schema = f.JSONSchema.Schema
	}
	switch f.Type {
	case "json_object":
		return json.RawMessage(`{"type":"object"}`), nil
	case "json_schema":
	default:
		return nil, service.Errorf(contract.KindInvalid, "%s: expected text, json_object or json_schema, not %s", member, service.Printable(f.Type))
	}
	var object map[string]any
	if len(schema) > maxSchema || json.Unmarshal(schema, &object) != nil || object == nil {
		return nil, service.Errorf(contract.KindInvalid, "%s: expected a JSON Schema of %d bytes at most", member, maxSchema)
	}
	if faults := outputschema.Faults("schema", object); len(faults) > 0 {
		return nil, service.Errorf(contract.KindInvalid, "%s: %s: %s", member, faults[0].Path, faults[0].Message)
	}
	return schema, nil
}

// callPrefix begins the ID of a call of a client's function. The UUID of its approval follows, so
// that the result is found by the ID alone.
const callPrefix = "call_"

// CallID returns the ID of a call that the client executes.
func CallID(p contract.PendingApproval) string {
	return callPrefix + strings.ReplaceAll(p.UUID, "-", "")
}

// ApprovalOfCall returns the UUID of the approval that waits for a result.
func ApprovalOfCall(id string) (uuid string, ok bool) {
	hex, ok := strings.CutPrefix(id, callPrefix)
	if !ok {
		return "", false
	}
	return UUID(hex)
}

// UUID returns a UUID that is written without hyphens.
func UUID(hex string) (string, bool) {
	if len(hex) != 32 {
		return "", false
	}
	id := hex[:8] + "-" + hex[8:12] + "-" + hex[12:16] + "-" + hex[16:20] + "-" + hex[20:]
	return id, contract.IsUUID(id)
}

// Public returns the form as a response repeats it.
func (f Format) Public() map[string]any {
	out := map[string]any{"type": f.Type}
	if f.Type == "json_schema" {
		out["name"], out["schema"], out["description"], out["strict"] = f.Name, f.Schema, f.Description, f.Strict != nil && *f.Strict
	}
	return out
}
