package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/workflows/contract"
)

// The types below decode an answer in all forms that servers send. Null and missing fields
// are zero values.

type chatChunk struct {
	Object  chatText        `json:"object"`
	Model   chatText        `json:"model"`
	Choices []chatChoice    `json:"choices"`
	Usage   *chatUsage      `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

// failed reports whether the chunk is an error: OpenRouter and local servers report failures
// of a running model in the stream, with status 200.
func (c chatChunk) failed() bool { return isSet(c.Error) || c.Object == "error" }

type chatChoice struct {
	Index        int             `json:"index"`
	Delta        chatMessage     `json:"delta"`
	Message      chatMessage     `json:"message"`
	FinishReason chatText        `json:"finish_reason"`
	Error        json.RawMessage `json:"error"`
}

type chatMessage struct {
	Content chatContent `json:"content"`
	Refusal chatText    `json:"refusal"`
	// OpenAI's format has no field for thoughts. Some servers send them in both of these.
	ReasoningContent chatText        `json:"reasoning_content"`
	Reasoning        chatText        `json:"reasoning"`
	Details          json.RawMessage `json:"reasoning_details"`
	ToolCalls        []chatToolCall  `json:"tool_calls"`
}

func (m chatMessage) thoughts() string { return string(cmp.Or(m.ReasoningContent, m.Reasoning)) }

// chatContent is a string, or (Mistral's reasoning models) a list of parts.
type chatContent []chatPart

type chatPart struct {
	Type     chatText    `json:"type"`
	Text     chatText    `json:"text"`
	Thinking chatContent `json:"thinking"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *chatContent) UnmarshalJSON(data []byte) error {
	if data[0] == '[' {
		return json.Unmarshal(data, (*[]chatPart)(c))
	}
	var text chatText
	if err := json.Unmarshal(data, &text); err != nil || text == "" {
		return err
	}
	*c = chatContent{{Type: "text", Text: text}}
	return nil
}

func (c chatContent) text() string {
	var b strings.Builder
	for _, p := range c {
		b.WriteString(string(p.Text))
	}
	return b.String()
}

type chatToolCall struct {
	Index    *int     `json:"index"`
	ID       chatText `json:"id"`
	Function struct {
		Name      chatText      `json:"name"`
		Arguments chatArguments `json:"arguments"`
	} `json:"function"`
}

// chatText is a string, or a number as text. Any other JSON value is "".
type chatText string

// UnmarshalJSON implements json.Unmarshaler.
func (t *chatText) UnmarshalJSON(data []byte) error {
	switch c := data[0]; {
	case c == '"':
		return json.Unmarshal(data, (*string)(t))
	case c == '-' || c >= '0' && c <= '9':
		*t = chatText(data)
	}
	return nil
}

// chatArguments are arguments as JSON text. Some servers send the object itself.
type chatArguments string

// UnmarshalJSON implements json.Unmarshaler.
func (a *chatArguments) UnmarshalJSON(data []byte) error {
	switch {
	case data[0] == '"':
		return json.Unmarshal(data, (*string)(a))
	case string(data) != "null":
		*a = chatArguments(data)
	}
	return nil
}

type chatUsage struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	Details    struct {
		Cached int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

func (u chatUsage) usage() contract.Usage {
	return contract.Usage{InputTokens: u.Prompt, OutputTokens: u.Completion, CachedTokens: u.Details.Cached}
}

// finish maps a finish reason to the constant of llm if its word differs.
func finish(reason string) string {
	switch reason {
	case "function_call", "end_turn", llm.FinishToolCalls:
		return llm.FinishStop // becomes tool_calls if there is a call
	case "max_tokens", "model_length":
		return llm.FinishLength
	case "content_filter":
		return llm.FinishRefusal
	}
	return reason
}

func isSet(raw json.RawMessage) bool {
	return len(raw) > 0 && !bytes.Equal(raw, []byte("null"))
}
