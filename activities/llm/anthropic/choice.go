package anthropic

import (
	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"agent-stop-and-go/activities/llm"
)

// demand returns the request in which the API can be told what is demanded of the calls. It takes
// any tool or one, so of several only those are offered.
func demand(r llm.Request) llm.Request {
	if len(r.Choice.Call) > 1 {
		return r.OfferDemanded()
	}
	return r
}

// toolChoice returns what is demanded of the calls. The API takes it only with tools.
func toolChoice(r llm.Request, names llm.Names) (out anthropic.ToolChoiceUnionParam) {
	var single param.Opt[bool]
	if r.Choice.Single {
		single = anthropic.Bool(true)
	}
	switch {
	case len(r.Tools) == 0:
	case len(r.Choice.Call) == 1:
		out.OfTool = &anthropic.ToolChoiceToolParam{Name: names.Wire(r.Choice.Call[0]), DisableParallelToolUse: single}
	case len(r.Choice.Call) > 1:
		out.OfAny = &anthropic.ToolChoiceAnyParam{DisableParallelToolUse: single}
	case r.Choice.Single:
		out.OfAuto = &anthropic.ToolChoiceAutoParam{DisableParallelToolUse: single}
	}
	return out
}
