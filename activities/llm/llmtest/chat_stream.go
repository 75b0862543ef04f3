package llmtest

import (
	"encoding/json"
	"net/http"
)

// chunk is an event of a streamed completion. Usage is in the last one, which has
// no choice.
type chunk struct {
	ID          string        `json:"id"`
	Object      string        `json:"object"`
	Created     int64         `json:"created"`
	Model       string        `json:"model"`
	ServiceTier string        `json:"service_tier"`
	Fingerprint *string       `json:"system_fingerprint"`
	Choices     []chunkChoice `json:"choices"`
	Usage       *usage        `json:"usage"`
}

type chunkChoice struct {
	Index    int     `json:"index"`
	Delta    delta   `json:"delta"`
	Logprobs *string `json:"logprobs"`
	Finish   *string `json:"finish_reason"`
}

type delta struct {
	Role      string      `json:"role,omitempty"`
	Content   *string     `json:"content,omitempty"`
	Thoughts  string      `json:"reasoning_content,omitempty"`
	Refusal   *string     `json:"refusal,omitempty"`
	ToolCalls []callDelta `json:"tool_calls,omitempty"`
}

// callDelta begins a call, or continues one if it has no ID, type and name.
type callDelta struct {
	Index    int           `json:"index"`
	ID       *string       `json:"id,omitempty"`
	Type     string        `json:"type,omitempty"`
	Function functionDelta `json:"function"`
}

type functionDelta struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

func (chat) streams(_ *http.Request, body []byte) bool {
	var asked struct {
		Stream bool `json:"stream"`
	}
	return json.Unmarshal(body, &asked) == nil && asked.Stream
}

func (chat) events(s outcome) []string {
	empty := ""
	var out []string
	for _, d := range append([]delta{{Role: "assistant", Content: &empty}}, chatDeltas(s)...) {
		out = append(out, chatFrame([]chunkChoice{{Delta: d}}, nil))
	}
	reason, used := chatFinish(s.finish), chatUsage(s.usage)
	return append(out,
		chatFrame([]chunkChoice{{Finish: &reason}}, nil),
		chatFrame([]chunkChoice{}, &used),
		"data: [DONE]\n\n")
}

// chatDeltas splits the model's output into deltas.
func chatDeltas(s outcome) []delta {
	var out []delta
	for _, piece := range pieces(s.thoughts) {
		out = append(out, delta{Thoughts: piece})
	}
	for _, piece := range pieces(s.text) {
		out = append(out, delta{Content: &piece})
	}
	for _, piece := range pieces(s.refusal) {
		out = append(out, delta{Refusal: &piece})
	}
	for i, c := range s.calls {
		out = append(out, callDeltaOf(callDelta{Index: i, ID: &c.ID, Type: "function", Function: functionDelta{Name: c.Name}}))
		for _, piece := range pieces(string(c.Arguments)) {
			out = append(out, callDeltaOf(callDelta{Index: i, Function: functionDelta{Arguments: piece}}))
		}
	}
	return out
}

func callDeltaOf(c callDelta) delta { return delta{ToolCalls: []callDelta{c}} }

func chatFrame(choices []chunkChoice, used *usage) string {
	return "data: " + encode(chunk{
		ID: "chatcmpl-llmtest", Object: "chat.completion.chunk", Created: 1767225600, Model: "llmtest-1",
		ServiceTier: "default", Choices: choices, Usage: used,
	}) + "\n\n"
}
