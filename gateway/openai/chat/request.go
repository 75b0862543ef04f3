package chat

import (
	"encoding/json"
	"fmt"
	"strings"

	"agent-stop-and-go/gateway/history"
	"agent-stop-and-go/gateway/openai"
	"agent-stop-and-go/gateway/passcode"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// body has the members of a request that are used here. The others have no effect.
type body struct {
	Model         string    `json:"model"`
	Messages      []message `json:"messages"`
	Stream        bool      `json:"stream"`
	StreamOptions *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	Tools []struct {
		Type     string          `json:"type"`
		Function openai.Function `json:"function"`
	} `json:"tools"`
	ToolChoice     json.RawMessage `json:"tool_choice"`
	ResponseFormat *openai.Format  `json:"response_format"`
	N              *int            `json:"n"`
}

type message struct {
	Role       string         `json:"role"`
	Content    openai.Content `json:"content"`
	ToolCallID string         `json:"tool_call_id"`
	ToolCalls  []struct {
		ID string `json:"id"`
	} `json:"tool_calls"`
}

// input is a request as it is carried out.
type input struct {
	body
	target openai.Target
	tools  []contract.Tool
	schema json.RawMessage
	// past is the chat before the message, and message what the client sends now.
	past    history.Chat
	message openai.Attached
	// context is what the client says as system or developer.
	context string
	// results are those of calls, at the end of the messages.
	results []message
}

func invalid(format string, args ...any) error {
	return service.Errorf(contract.KindInvalid, format, args...)
}

// read checks a request and takes it apart.
func (b body) read(models openai.Models) (in input, err error) {
	in = input{body: b}
	switch {
	case len(b.Messages) == 0:
		return in, invalid("messages: expected one at least")
	case b.N != nil && *b.N != 1:
		return in, invalid("n: an agent gives one answer")
	}
	if in.target, err = models.Target(b.Model); err != nil {
		return in, err
	}
	if in.tools, err = b.functions(); err != nil {
		return in, err
	}
	agent := models.Agent
	if in.target.Agent != nil {
		agent = *in.target.Agent
	}
	if in.schema, err = b.ResponseFormat.OutputSchema(agent); err != nil {
		return in, err
	}
	return in, in.split()
}

// functions returns the client's tools. With tool_choice none there are none.
func (b body) functions() ([]contract.Tool, error) {
	var list []openai.Function
	for n, t := range b.Tools {
		if t.Type != "function" && t.Type != "" {
			return nil, invalid("tools[%d]: only functions are supported, not %s", n, service.Printable(t.Type))
		}
		list = append(list, t.Function)
	}
	tools, err := openai.ClientTools(list)
	if string(b.ToolChoice) == `"none"` {
		return nil, err
	}
	return tools, err
}

// split tells what is new from what was said before.
func (in *input) split() error {
	end := len(in.Messages)
	for end > 0 && in.Messages[end-1].Role == "tool" {
		end--
	}
	in.results = in.Messages[end:]
	from := end
	for len(in.results) == 0 && from > 0 && in.Messages[from-1].Role == "user" {
		from--
	}
	for n, m := range in.Messages {
		if err := in.add(n, m, n >= from && n < end); err != nil {
			return err
		}
	}
	if len(in.results) > 0 {
		return nil
	}
	if in.message.Text == "" && len(in.message.Files) == 0 {
		return invalid("messages: the last one must be of the user, or the result of a call, and not empty")
	}
	return nil
}

func (in *input) add(n int, m message, isNew bool) error {
	switch m.Role {
	case "user", "assistant", "system", "developer", "tool":
	default:
		return invalid("messages[%d].role: expected system, developer, user, assistant or tool", n)
	}
	if m.Role == "tool" {
		return nil
	}
	content, err := m.Content.Read()
	if err != nil {
		return fmt.Errorf("messages[%d]: %w", n, err)
	}
	_, decides := passcode.Parse(content.Text)
	switch {
	case m.Role == "system" || m.Role == "developer":
		if content.Text != "" {
			in.context += "[context] The client says: " + content.Text + "\n"
		}
	case isNew:
		if in.message.Text != "" && content.Text != "" {
			in.message.Text += "\n\n"
		}
		in.message.Text += content.Text
		in.message.Files = append(in.message.Files, content.Files...)
	case m.Role == "user" && decides:
	default:
		in.past = in.past.Add(m.Role == "user", content.Text)
	}
	return nil
}

// preface returns what is put in front of a message. In a conversation that goes on, the context of
// the client is there already if it was the same.
func (in input) preface(found history.Found) string {
	if found.State == nil {
		return end(in.context) + in.past.Context()
	}
	text := end(in.context)
	for _, m := range found.State.Messages {
		if m.Role == contract.RoleUser && !m.Notice && text != "" && strings.HasPrefix(m.Content.Inline[:max(0, min(m.Preface, len(m.Content.Inline)))], text) {
			return ""
		}
	}
	return text
}

func end(text string) string {
	if text == "" {
		return ""
	}
	return text + "\n"
}
