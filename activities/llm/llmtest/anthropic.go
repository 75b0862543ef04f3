package llmtest

import (
	"encoding/json"
	"net/http"
	"strings"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/workflows/contract"
)

// anthropic is the format of Anthropic's Messages API.
type anthropic struct{}

type claudeMessage struct {
	ID          string         `json:"id"`
	Type        string         `json:"type"`
	Role        string         `json:"role"`
	Model       string         `json:"model"`
	Content     []any          `json:"content"`
	StopReason  *string        `json:"stop_reason"`
	Sequence    *string        `json:"stop_sequence"`
	StopDetails *claudeRefusal `json:"stop_details"`
	Usage       claudeUsage    `json:"usage"`
}

type claudeUsage struct {
	Input   int64 `json:"input_tokens"`
	Written int64 `json:"cache_creation_input_tokens"`
	Read    int64 `json:"cache_read_input_tokens"`
	Output  int64 `json:"output_tokens"`
}

type claudeRefusal struct {
	Type        string  `json:"type"`
	Category    *string `json:"category"`
	Explanation string  `json:"explanation"`
}

type claudeText struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type claudeThinking struct {
	Type      string `json:"type"`
	Thinking  string `json:"thinking"`
	Signature string `json:"signature"`
}

type claudeCall struct {
	Type  string          `json:"type"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

func (anthropic) speaks(path string) bool { return strings.HasSuffix(path, "/v1/messages") }

func (anthropic) key(r *http.Request) string { return r.Header.Get("X-Api-Key") }

// claudeErrors maps statuses to error types. The API has no codes.
var claudeErrors = map[int]string{
	401: "authentication_error", 402: "billing_error", 403: "permission_error", 404: "not_found_error",
	413: "request_too_large", 429: "rate_limit_error", 500: "api_error", 504: "timeout_error", 529: "overloaded_error",
}

func (anthropic) refusal(e *apiError) string {
	kind := claudeErrors[e.Status]
	switch {
	case kind == "" && e.Status >= http.StatusInternalServerError:
		kind = "api_error"
	case kind == "":
		kind = "invalid_request_error"
	}
	return encode(map[string]any{
		"type": "error", "error": map[string]string{"type": kind, "message": e.Message}, "request_id": "req_llmtest",
	})
}

func (anthropic) streams(_ *http.Request, body []byte) bool {
	var asked struct{ Stream bool }
	return json.Unmarshal(body, &asked) == nil && asked.Stream
}

func (anthropic) whole(s outcome) string {
	m := claudeStart(s)
	m.StopReason, m.StopDetails, m.Usage.Output = claudeStop(s), claudeDetails(s), s.usage.OutputTokens
	if s.thoughts != "" {
		m.Content = append(m.Content, claudeThinking{"thinking", s.thoughts, signature(s.thoughts)})
	}
	if s.text != "" {
		m.Content = append(m.Content, claudeText{"text", s.text})
	}
	for _, c := range s.calls {
		input := c.Arguments
		if !json.Valid(input) { // the field takes only JSON
			input = json.RawMessage(encode(string(c.Arguments)))
		}
		m.Content = append(m.Content, claudeCall{"tool_use", c.ID, c.Name, input})
	}
	return encode(m)
}

// claudeStart returns a message without content, as in message_start.
func claudeStart(s outcome) claudeMessage {
	return claudeMessage{
		ID: "msg_llmtest", Type: "message", Role: "assistant", Model: "llmtest-1", Content: []any{},
		Usage: claudeUsage{Input: s.usage.InputTokens - s.usage.CachedTokens, Read: s.usage.CachedTokens, Output: 1},
	}
}

func claudeStop(s outcome) *string {
	reason := s.finish
	switch reason {
	case llm.FinishStop:
		reason = "end_turn"
	case llm.FinishToolCalls:
		reason = "tool_use"
	case llm.FinishLength:
		reason = "max_tokens"
	}
	return &reason
}

func claudeDetails(s outcome) *claudeRefusal {
	if s.refusal == "" {
		return nil
	}
	return &claudeRefusal{Type: "refusal", Explanation: s.refusal}
}

// signature returns the signature of thoughts; changed thoughts have another.
func signature(thoughts string) string { return "EqQB" + contract.Hash([]byte(thoughts)) + "==" }
