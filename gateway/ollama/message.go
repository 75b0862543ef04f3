package ollama

import (
	"encoding/json"
	"fmt"

	"agent-stop-and-go/gateway/openai"
	"agent-stop-and-go/gateway/openai/talk"
	"agent-stop-and-go/workflows/contract"
)

// message is a message of a request.
type message struct {
	Role       string   `json:"role"`
	Content    string   `json:"content"`
	Images     []string `json:"images"` // base64
	ToolName   string   `json:"tool_name"`
	ToolCallID string   `json:"tool_call_id"`
}

// attached returns the content of a message.
func (m message) attached() (openai.Attached, error) {
	c := openai.Content{Text: m.Content}
	for _, image := range m.Images {
		quoted, err := json.Marshal(image)
		if err != nil {
			return openai.Attached{}, err
		}
		c.Parts = append(c.Parts, openai.Part{Type: "image_url", ImageURL: quoted})
	}
	return c.Read()
}

// add adds a message to the input.
func (m message) add(in *talk.Input, n int, isNew bool) error {
	switch m.Role {
	case "user", "assistant", "system":
	case "tool":
		if !isNew {
			return nil
		}
		in.Results = append(in.Results, talk.Result{CallID: m.ToolCallID, Tool: m.ToolName, Text: m.Content})
		return nil
	default:
		return invalid("messages[%d].role: expected system, user, assistant or tool", n)
	}
	content, err := m.attached()
	if err != nil {
		return openai.Within(fmt.Sprintf("messages[%d]", n), err)
	}
	in.Add(m.Role, content, isNew)
	return nil
}

// toolCall is a call that the client executes.
type toolCall struct {
	ID       string `json:"id"`
	Function struct {
		Index     int             `json:"index"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"` // an object
	} `json:"function"`
}

// toolCalls returns calls as Ollama has them.
func toolCalls(calls []contract.PendingApproval) (out []toolCall) {
	for n, p := range calls {
		c := toolCall{ID: openai.CallID(p)}
		c.Function.Index, c.Function.Name, c.Function.Arguments = n, p.ToolName, p.ToolArgs.Raw
		if len(c.Function.Arguments) == 0 {
			c.Function.Arguments = json.RawMessage("{}")
		}
		out = append(out, c)
	}
	return out
}
