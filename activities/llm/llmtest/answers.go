package llmtest

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"agent-stop-and-go/activities/llm"
)

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

// Say answers with a text.
func Say(text string) Answer { return complete(&text, nil, nil, llm.FinishStop) }

// CallTools answers with tool calls, and with a text beside unless it is empty.
// Arguments go out as they are, broken or not; so do empty and equal IDs.
func CallTools(text string, calls ...llm.Call) Answer {
	var content *string
	if text != "" {
		content = &text
	}
	var out []toolCall
	for _, c := range calls {
		out = append(out, toolCall{c.ID, "function", function{c.Name, string(c.Arguments)}})
	}
	return complete(content, out, nil, llm.FinishToolCalls)
}

// Refuse answers with a refusal.
func Refuse(why string) Answer { return complete(nil, nil, &why, llm.FinishStop) }

// Finish answers with a text and any finish reason.
func Finish(text, reason string) Answer { return complete(&text, nil, nil, reason) }

// Huge answers with a text of n bytes.
func Huge(n int) Answer { return Say(strings.Repeat("x", n)) }

// complete encodes the answer once, whatever the number of requests it answers.
func complete(content *string, calls []toolCall, refusal *string, finish string) Answer {
	c := completion{
		ID: "chatcmpl-llmtest", Object: "chat.completion", Created: 1767225600, Model: "llmtest-1",
		Choices: []choice{{Message: message{"assistant", content, calls, refusal, []string{}}, Finish: finish}},
		Usage:   usage{Prompt: 19, Completion: 10, Total: 29, Details: details{Cached: 3}}, ServiceTier: "default",
	}
	body, err := json.Marshal(c)
	if err != nil { // the types have no value that cannot be encoded
		panic(err)
	}
	return JSON(http.StatusOK, string(body))
}

// JSON answers with any status and any body, as application/json.
func JSON(status int, body string) Answer {
	return func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, status, body) }
}

func writeJSON(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body)) // the client may have gone
}
