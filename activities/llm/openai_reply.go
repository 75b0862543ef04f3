package llm

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/openai/openai-go/v3"

	"agent-stop-and-go/workflows/contract"
)

// reply takes a whole answer apart.
func (c completions) reply(res *openai.ChatCompletion, d *draft) (Reply, error) {
	if res == nil || len(res.Choices) == 0 {
		return Reply{}, c.empty(res)
	}
	choice := res.Choices[0]
	d.model, d.usage, d.finish = res.Model, usage(res.Usage), finish(choice.FinishReason)
	d.refusal = choice.Message.Refusal
	if err := d.say(content(choice.Message)); err != nil {
		return Reply{}, err
	}
	for _, tc := range choice.Message.ToolCalls {
		if err := d.argue(d.call(tc.ID, tc.Function.Name), argumentsText(tc.Function)); err != nil {
			return Reply{}, err
		}
	}
	return d.reply()
}

// empty is an answer without choices. OpenRouter reports failures that happen
// while the model works that way, with status 200.
func (c completions) empty(res *openai.ChatCompletion) error {
	var body struct {
		Error *struct {
			Code int `json:"code"`
		} `json:"error"`
	}
	if res != nil && json.Unmarshal([]byte(res.RawJSON()), &body) == nil && body.Error != nil && body.Error.Code >= 400 {
		return c.refused(&statusError{status: body.Error.Code, header: http.Header{}, body: []byte(res.RawJSON())})
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
	case "content_filter":
		return FinishRefusal
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

// argumentsText is the text of a call's arguments. Some local servers send the
// object itself instead.
func argumentsText(f openai.ChatCompletionMessageFunctionToolCallFunction) string {
	if raw := f.JSON.Arguments.Raw(); strings.HasPrefix(raw, "{") {
		return raw
	}
	return f.Arguments
}

func usage(u openai.CompletionUsage) contract.Usage {
	return contract.Usage{
		InputTokens: u.PromptTokens, OutputTokens: u.CompletionTokens,
		CachedTokens: u.PromptTokensDetails.CachedTokens,
	}
}
