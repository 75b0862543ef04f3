package llm

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/openai/openai-go/v3"

	"agent-stop-and-go/workflows/contract"
)

const withheld = "The provider withheld the model's reply (content filter)."

func (c completions) reply(res *openai.ChatCompletion, model string, names nameTable) (Reply, error) {
	if res == nil || len(res.Choices) == 0 {
		return Reply{}, c.empty(res, model)
	}
	choice := res.Choices[0]
	r := Reply{
		Text: content(choice.Message), Model: cmp.Or(res.Model, model), Usage: usage(res.Usage),
		Finish: finish(choice.FinishReason),
	}
	switch r.Calls = calls(choice, names); {
	case choice.Message.Refusal != "":
		r.Text, r.Calls, r.Finish = choice.Message.Refusal, nil, FinishRefusal
	case len(r.Calls) > 0 && r.Finish == FinishStop:
		r.Finish = FinishToolCalls
	case r.Text == "" && len(r.Calls) == 0 && r.Finish == "content_filter":
		r.Text, r.Finish = withheld, FinishRefusal
	case r.Text == "" && len(r.Calls) == 0 && r.Finish == FinishLength:
		return Reply{}, c.garbage("it reached its length limit before it said anything")
	case r.Text == "" && len(r.Calls) == 0:
		return Reply{}, c.garbage("neither text nor tool calls")
	}
	return r, nil
}

// empty is an answer without choices. OpenRouter reports failures that happen
// while the model works that way, with status 200.
func (c completions) empty(res *openai.ChatCompletion, model string) error {
	var body struct {
		Error *struct {
			Code int `json:"code"`
		} `json:"error"`
	}
	if res != nil && json.Unmarshal([]byte(res.RawJSON()), &body) == nil && body.Error != nil && body.Error.Code >= 400 {
		return c.refused(&statusError{status: body.Error.Code, header: http.Header{}, body: []byte(res.RawJSON())}, model)
	}
	return c.garbage("no choices in response")
}

// finish maps the words that differ to those of this package.
func finish(reason string) string {
	switch reason {
	case "", "function_call", "end_turn", FinishToolCalls:
		return FinishStop // tool_calls again once there is a call
	case "max_tokens", "model_length":
		return FinishLength
	}
	return reason
}

// content is the text of a message: a string, or (Mistral's reasoning models) a
// list of parts, of which the texts count.
func content(m openai.ChatCompletionMessage) string {
	raw := m.JSON.Content.Raw()
	if !strings.HasPrefix(raw, "[") {
		return m.Content
	}
	var parts []struct{ Type, Text string }
	if json.Unmarshal([]byte(raw), &parts) != nil {
		return ""
	}
	text := ""
	for _, p := range parts {
		if p.Type == "text" {
			text += p.Text
		}
	}
	return text
}

func calls(choice openai.ChatCompletionChoice, names nameTable) []Call {
	var out []Call
	used := map[string]bool{}
	for _, tc := range choice.Message.ToolCalls {
		if tc.Function.Name == "" {
			continue
		}
		call := Call{ID: tc.ID, Name: names.toOwn(tc.Function.Name)}
		for call.ID == "" || used[call.ID] {
			call.ID = rand.Text()[:9]
		}
		used[call.ID] = true
		call.Arguments, call.Problem = arguments(tc.Function, choice.FinishReason)
		out = append(out, call)
	}
	return out
}

// arguments takes the arguments apart. Some local servers send the object itself
// where the API has its text.
func arguments(f openai.ChatCompletionMessageFunctionToolCallFunction, finish string) (json.RawMessage, string) {
	text := []byte(f.Arguments)
	if raw := f.JSON.Arguments.Raw(); strings.HasPrefix(raw, "{") {
		text = []byte(raw)
	}
	switch text = bytes.TrimSpace(text); {
	case len(text) == 0 || string(text) == "null":
		return json.RawMessage("{}"), ""
	case isObject(text):
		return text, ""
	case finish == FinishLength:
		return json.RawMessage("{}"), "The arguments were cut off at the model's length limit."
	case json.Valid(text):
		return json.RawMessage("{}"), "The arguments are JSON, but not a JSON object."
	}
	return json.RawMessage("{}"), "The arguments are not valid JSON."
}

func usage(u openai.CompletionUsage) contract.Usage {
	return contract.Usage{
		InputTokens: u.PromptTokens, OutputTokens: u.CompletionTokens,
		CachedTokens: u.PromptTokensDetails.CachedTokens,
	}
}
