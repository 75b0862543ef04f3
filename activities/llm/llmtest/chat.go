package llmtest

import (
	"net/http"
	"strings"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/workflows/contract"
)

// chat is OpenAI's chat completions format.
type chat struct{}

type completion struct {
	ID          string   `json:"id"`
	Object      string   `json:"object"`
	Created     int64    `json:"created"`
	Model       string   `json:"model"`
	Choices     []choice `json:"choices"`
	Usage       usage    `json:"usage"`
	ServiceTier string   `json:"service_tier"`
	Fingerprint *string  `json:"system_fingerprint"`
}

type choice struct {
	Index    int     `json:"index"`
	Message  message `json:"message"`
	Logprobs *string `json:"logprobs"`
	Finish   string  `json:"finish_reason"`
}

type message struct {
	Role        string     `json:"role"`
	Content     *string    `json:"content"`
	ToolCalls   []toolCall `json:"tool_calls,omitempty"`
	Thoughts    string     `json:"reasoning_content,omitempty"`
	Refusal     *string    `json:"refusal"`
	Annotations []string   `json:"annotations"`
}

type toolCall struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type usage struct {
	Prompt     int     `json:"prompt_tokens"`
	Completion int     `json:"completion_tokens"`
	Total      int     `json:"total_tokens"`
	Details    details `json:"prompt_tokens_details"`
}

type details struct {
	Cached int `json:"cached_tokens"`
}

func (chat) speaks(path string) bool { return strings.HasSuffix(path, "/chat/completions") }

func (chat) key(r *http.Request) string {
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
}

func (chat) refusal(e *apiError) string { return encode(map[string]*apiError{"error": e}) }

func (chat) whole(s outcome) string {
	c := completion{
		ID: "chatcmpl-llmtest", Object: "chat.completion", Created: 1767225600, Model: "llmtest-1",
		Choices:     []choice{{Message: chatMessage(s), Finish: chatFinish(s.finish)}},
		Usage:       chatUsage(s.usage),
		ServiceTier: "default",
	}
	return encode(c)
}

func chatUsage(u contract.Usage) usage {
	return usage{
		Prompt: int(u.InputTokens), Completion: int(u.OutputTokens),
		Total: int(u.InputTokens + u.OutputTokens), Details: details{Cached: int(u.CachedTokens)},
	}
}

func chatMessage(s outcome) message {
	m := message{Role: "assistant", Thoughts: s.thoughts, Annotations: []string{}}
	if s.text != "" || len(s.calls) == 0 && s.refusal == "" {
		m.Content = &s.text
	}
	if s.refusal != "" {
		m.Refusal = &s.refusal
	}
	for _, c := range s.calls {
		m.ToolCalls = append(m.ToolCalls, toolCall{c.ID, "function", function{c.Name, string(c.Arguments)}})
	}
	return m
}

func chatFinish(reason string) string {
	if reason == llm.FinishRefusal {
		return llm.FinishStop
	}
	return reason
}
