package chat

import (
	"fmt"

	"agent-stop-and-go/gateway/offers"
	"agent-stop-and-go/gateway/openai"
	"agent-stop-and-go/gateway/openai/talk"
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
	openai.Demand
	ResponseFormat *openai.Format `json:"response_format"`
	N              *int           `json:"n"`
}

type message struct {
	Role       string         `json:"role"`
	Content    openai.Content `json:"content"`
	ToolCallID string         `json:"tool_call_id"`
}

func invalid(format string, args ...any) error {
	return service.Errorf(contract.KindInvalid, format, args...)
}

// read checks a request and takes it apart.
func (b body) read(models offers.Models) (in talk.Input, err error) {
	in = talk.Input{Live: b.Stream}
	switch {
	case len(b.Messages) == 0:
		return in, invalid("messages: expected one at least")
	case b.N != nil && *b.N != 1:
		return in, invalid("n: an agent gives one answer")
	}
	if in.Target, err = models.Target(b.Model); err != nil {
		return in, err
	}
	tools, err := b.functions()
	if err != nil {
		return in, err
	}
	if in.Tools, in.ToolChoice, err = b.Choose(tools); err != nil {
		return in, err
	}
	agent := models.Agent
	if in.Target.Agent != nil {
		agent = *in.Target.Agent
	}
	if in.Schema, err = b.ResponseFormat.OutputSchema("response_format", agent); err != nil {
		return in, err
	}
	return in, b.split(&in)
}

// functions returns the client's tools.
func (b body) functions() ([]contract.Tool, error) {
	var list []openai.Function
	for n, t := range b.Tools {
		if t.Type != "function" && t.Type != "" {
			return nil, invalid("tools[%d]: only functions are supported, not %s", n, service.Printable(t.Type))
		}
		list = append(list, t.Function)
	}
	return openai.ClientTools(list)
}

// split separates what is new from what was said before: the messages of the user at the end, and the
// results of calls directly before them.
func (b body) split(in *talk.Input) error {
	if err := talk.CheckLength("messages", len(b.Messages)); err != nil {
		return err
	}
	from := talk.New(len(b.Messages), func(n int) string { return b.Messages[n].Role })
	for n, m := range b.Messages {
		if err := m.add(in, n, n >= from); err != nil {
			return err
		}
	}
	if len(in.Results) == 0 && in.Message.Text == "" && len(in.Message.Files) == 0 {
		return invalid("messages: the last one must be of the user, or the result of a call, and not empty")
	}
	return nil
}

// add adds a message to the input.
func (m message) add(in *talk.Input, n int, isNew bool) error {
	switch m.Role {
	case "user", "assistant", "system", "developer":
	case "tool":
		if !isNew {
			return nil
		}
	default:
		return invalid("messages[%d].role: expected system, developer, user, assistant or tool", n)
	}
	content, err := m.Content.Read()
	if err != nil {
		return openai.Within(fmt.Sprintf("messages[%d]", n), err)
	}
	if m.Role == "tool" {
		in.Results = append(in.Results, talk.Result{CallID: m.ToolCallID, Text: content.Text})
		return nil
	}
	in.Add(m.Role, content, isNew)
	return nil
}
