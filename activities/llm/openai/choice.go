package openai

import (
	"regexp"

	"github.com/openai/openai-go/v3"

	"agent-stop-and-go/activities/llm"
)

// demand returns the request in which the provider can be told what is demanded of the calls. Some
// servers do not take an object as tool_choice (LM Studio, llama.cpp), and Mistral and OpenRouter
// take no list of allowed tools: they are offered the demanded tools alone, and have to call one.
func (c completions) demand(r llm.Request) llm.Request {
	if !c.dialect.namedChoice || len(r.Choice.Call) > 1 {
		r = r.OfferDemanded()
	}
	if c.dialect.noChoice {
		r = r.AskInPrompt(r.Choice, llm.NewNames(r.Tools))
	}
	return r
}

// choose adds what is demanded of the calls.
func (c completions) choose(params *openai.ChatCompletionNewParams, r llm.Request, names llm.Names) {
	if c.dialect.noChoice || len(params.Tools) == 0 {
		return
	}
	switch {
	case len(r.Choice.Call) == 0:
	case len(params.Tools) == 1 || len(r.Choice.Call) > 1:
		params.ToolChoice.OfAuto = openai.String("required")
	default:
		params.ToolChoice = openai.ToolChoiceOptionFunctionToolChoice(openai.ChatCompletionNamedToolChoiceFunctionParam{Name: names.Wire(r.Choice.Call[0])})
	}
	if r.Choice.Single && !(c.dialect.namedChoice && serialModels.MatchString(c.Model)) {
		params.ParallelToolCalls = openai.Bool(false)
	}
}

// serialModels matches models of OpenAI that refuse parallel_tool_calls.
var serialModels = regexp.MustCompile(`^o[1-9]([-.]|$)`)
