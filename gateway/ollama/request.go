package ollama

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/google/uuid"

	"agent-stop-and-go/gateway/offers"
	"agent-stop-and-go/gateway/openai"
	"agent-stop-and-go/gateway/openai/talk"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// common has the members that both requests have, and are used here. The others have no effect.
type common struct {
	Model     string          `json:"model"`
	Stream    *bool           `json:"stream"` // true by default
	Format    json.RawMessage `json:"format"` // "json", or a JSON Schema
	KeepAlive json.RawMessage `json:"keep_alive"`
}

type chatBody struct {
	common
	Messages []message `json:"messages"`
	Tools    []struct {
		Type     string          `json:"type"`
		Function openai.Function `json:"function"`
	} `json:"tools"`
}

type generateBody struct {
	common
	Prompt string   `json:"prompt"`
	Suffix string   `json:"suffix"`
	System string   `json:"system"`
	Images []string `json:"images"`
	// Context is that of an earlier reply: the bytes of the UUID of the conversation.
	Context []int `json:"context"`
}

func invalid(format string, args ...any) error {
	return service.Errorf(contract.KindInvalid, format, args...)
}

// target returns what a name means.
func (ep *Endpoint) target(name string) (offers.Target, error) {
	if name == "" {
		return offers.Target{}, invalid("model is required")
	}
	t, err := ep.Talk.Models.Target(name)
	if err != nil {
		return t, service.Errorf(offers.KindNoModel, "model '%s' not found", service.Printable(name))
	}
	return t, nil
}

// schema returns the schema of the answer, nil for text.
func (b common) schema(models offers.Models, t offers.Target) (json.RawMessage, error) {
	var f openai.Format
	switch text := string(b.Format); {
	case text == "" || text == "null" || text == `""`:
		return nil, nil
	case text == `"json"`:
		f.Type = "json_object"
	case strings.HasPrefix(text, "{"):
		f.Type, f.Schema = "json_schema", b.Format
	default:
		return nil, invalid(`format: expected "json" or a JSON Schema`)
	}
	agent := models.Agent
	if t.Agent != nil {
		agent = *t.Agent
	}
	return f.OutputSchema("format", agent)
}

// unloads reports whether a request without a message unloads the model.
func (b common) unloads() bool {
	return slices.Contains([]string{"0", `"0"`, `"0s"`, `"0m"`}, string(b.KeepAlive))
}

// read takes a request apart.
func (b chatBody) read(in *talk.Input, models offers.Models) (err error) {
	var list []openai.Function
	for n, t := range b.Tools {
		if t.Type != "function" && t.Type != "" {
			return invalid("tools[%d]: only functions are supported, not %s", n, service.Printable(t.Type))
		}
		list = append(list, t.Function)
	}
	if in.Tools, err = openai.ClientTools(list); err != nil {
		return err
	}
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
		return invalid("messages: the last one must be of the user or of a tool, and not empty")
	}
	return nil
}

// read takes a request apart.
func (b generateBody) read(in *talk.Input) (err error) {
	if b.Suffix != "" {
		return invalid("%s does not support insert", service.Printable(in.Target.Name))
	}
	if in.Conversation, err = conversationOf(b.Context); err != nil {
		return err
	}
	in.Fork = in.Conversation == ""
	in.Add("system", openai.Attached{Text: b.System}, false)
	in.Message, err = message{Content: b.Prompt, Images: b.Images}.attached()
	return err
}

// conversationOf returns the conversation that a context names, "" for none.
func conversationOf(context []int) (string, error) {
	if len(context) == 0 {
		return "", nil
	}
	var raw []byte
	for _, n := range context {
		if n < 0 || n > 255 {
			return "", invalid("context: expected that of an earlier reply")
		}
		raw = append(raw, byte(n))
	}
	id, err := uuid.FromBytes(raw)
	if err != nil {
		return "", invalid("context: expected that of an earlier reply")
	}
	return id.String(), nil
}

// contextOf returns the context that names a conversation.
func contextOf(conversation string) (out []int) {
	id, err := uuid.Parse(conversation)
	if err != nil {
		return nil
	}
	for _, b := range id {
		out = append(out, int(b))
	}
	return out
}
