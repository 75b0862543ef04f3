package responses

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"agent-stop-and-go/gateway/offers"
	"agent-stop-and-go/gateway/openai"
	"agent-stop-and-go/gateway/openai/talk"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// body has the members of a request that are used, or repeated in the reply. The others have no
// effect.
type body struct {
	Model        string          `json:"model"`
	Input        items           `json:"input"`
	Conversation json.RawMessage `json:"conversation"`
	Stream       bool            `json:"stream"`
	Store        *bool           `json:"store"`
	settings

	// recent are the IDs of the last responses of the same WebSocket, which may go on though they are not stored.
	recent []string
}

// tool is a tool that the client declares.
type tool struct {
	Type        string `json:"type"`
	ServerLabel string `json:"server_label"`
	openai.Function

	raw json.RawMessage
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *tool) UnmarshalJSON(data []byte) error {
	type plain tool
	*t = tool{}
	if err := json.Unmarshal(data, (*plain)(t)); err != nil {
		return err
	}
	t.raw = append(json.RawMessage(nil), data...)
	return nil
}

func invalid(format string, args ...any) error {
	return service.Errorf(contract.KindInvalid, format, args...)
}

// read checks a request and takes it apart.
func (b body) read(models offers.Models) (in talk.Input, err error) {
	in.Live = b.Stream
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
	if b.Text != nil {
		agent := models.Agent
		if in.Target.Agent != nil {
			agent = *in.Target.Agent
		}
		if in.Schema, err = b.Text.Format.OutputSchema("text.format", agent); err != nil {
			return in, err
		}
	}
	if err := b.check(); err != nil {
		return in, err
	}
	if b.Instructions != nil {
		in.Add("system", openai.Attached{Text: *b.Instructions}, false)
	}
	return in, b.Input.read(&in)
}

// The limits of metadata.
const (
	maxPairs = 16
	maxKey   = 64
	maxValue = 512
)

// check refuses what the response could not keep to.
func (b body) check() error {
	if b.Background && b.Store != nil && !*b.Store {
		return invalid("background: a response that is not stored cannot be read later")
	}
	if b.Truncation != nil && *b.Truncation != "auto" && *b.Truncation != truncationOff {
		return invalid("truncation: expected auto or disabled, not %s", service.Printable(*b.Truncation))
	}
	if len(b.Metadata) > maxPairs {
		return invalid("metadata: expected %d pairs at most", maxPairs)
	}
	for key, value := range b.Metadata {
		if utf8.RuneCountInString(key) > maxKey || utf8.RuneCountInString(value) > maxValue {
			return invalid("metadata: expected keys of %d characters and values of %d at most", maxKey, maxValue)
		}
	}
	return nil
}

// functions returns the client's functions. Its mcp tools name servers of the agent.
func (b body) functions() ([]contract.Tool, error) {
	var list []openai.Function
	for n, t := range b.Tools {
		switch t.Type {
		case "function":
			list = append(list, t.Function)
		case "mcp":
			if t.ServerLabel == "" {
				return nil, invalid("tools[%d]: expected a server_label", n)
			}
		default:
			return nil, invalid("tools[%d]: only tools of the types function and mcp are supported, not %s", n, service.Printable(t.Type))
		}
	}
	return openai.ClientTools(list)
}

// labels returns the server labels of the client's mcp tools.
func (b body) labels() map[string]bool {
	labels := map[string]bool{}
	for _, t := range b.Tools {
		if t.Type == "mcp" {
			labels[t.ServerLabel] = true
		}
	}
	return labels
}

// names returns the conversation and the response that a request goes on with, if it names one.
func (b body) names() (conversation string, previous *service.Request, err error) {
	name := ""
	var object struct {
		ID string `json:"id"`
	}
	switch {
	case len(b.Conversation) == 0 || string(b.Conversation) == "null":
	case json.Unmarshal(b.Conversation, &name) == nil:
	case json.Unmarshal(b.Conversation, &object) == nil:
		name = object.ID
	default:
		return "", nil, invalid("conversation: expected an ID, or an object with one")
	}
	if name != "" {
		if b.PreviousResponseID != nil {
			return "", nil, invalid("previous_response_id and conversation exclude each other")
		}
		conversation, err = conversationOf(name)
		return conversation, nil, err
	}
	if b.PreviousResponseID == nil {
		return "", nil, nil
	}
	q, form, err := parseResponse(*b.PreviousResponseID)
	if err == nil && strings.Contains(form, formUnstored) && !slices.Contains(b.recent, *b.PreviousResponseID) {
		err = noResponse(*b.PreviousResponseID)
	}
	return "", &q, previousMissing(err)
}
