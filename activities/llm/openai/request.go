package openai

import (
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/workflows/contract"
)

// bridgeText is the assistant message between a tool's result and a user's message, for
// providers that require one.
const bridgeText = "Understood."

func (c completions) messages(turns []llm.Turn, names llm.Names) []openai.ChatCompletionMessageParamUnion {
	d := c.dialect
	var out []openai.ChatCompletionMessageParamUnion
	for i, t := range turns {
		if t.Role == contract.RoleUser {
			if d.bridge && i > 0 && len(turns[i-1].Calls) > 0 {
				out = append(out, openai.AssistantMessage(bridgeText))
			}
			out = append(out, userMessage(t))
			continue
		}
		out = append(out, c.assistant(t, names))
		for _, call := range t.Calls {
			out = append(out, openai.ToolMessage(resultText(call), d.callID(call.ID)))
		}
		out = append(out, d.images(t.Calls, names)...)
	}
	return out
}

func (c completions) assistant(t llm.Turn, names llm.Names) openai.ChatCompletionMessageParamUnion {
	var m openai.ChatCompletionAssistantMessageParam
	if n := c.NativeOf(t); n != nil && json.Valid(n.Content) {
		m.SetExtraFields(map[string]any{"reasoning_details": n.Content})
	}
	if t.Text != "" {
		m.Content.OfString = param.NewOpt(t.Text)
	}
	for _, call := range t.Calls {
		m.ToolCalls = append(m.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{
			OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
				ID: c.dialect.callID(call.ID),
				Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{
					Name: names.Wire(call.Name), Arguments: string(call.Arguments),
				},
			},
		})
	}
	return openai.ChatCompletionMessageParamUnion{OfAssistant: &m}
}

// resultText returns a result, marked if it is an error: the API has no field for that.
func resultText(c llm.PastCall) string {
	if c.IsError {
		return "Error: " + c.Result
	}
	return c.Result
}

var shortID = regexp.MustCompile(`^[A-Za-z0-9]{9}$`)

func (d dialect) callID(id string) string {
	if !d.shortIDs || shortID.MatchString(id) {
		return id
	}
	return contract.Hash([]byte(id))[:9]
}

func (d dialect) toolParams(tools []contract.Tool, names llm.Names) ([]openai.ChatCompletionToolUnionParam, error) {
	var out []openai.ChatCompletionToolUnionParam
	for _, tool := range tools {
		schema, err := parameters(tool.InputSchema)
		if err != nil {
			return nil, &llm.Error{
				Kind:    contract.KindModelRequest,
				Message: llm.OneLine(fmt.Sprintf("the schema of tool %s is not a JSON object", tool.Name)),
			}
		}
		f := shared.FunctionDefinitionParam{Name: names.Wire(tool.Name), Parameters: schema}
		if tool.Description != "" {
			f.Description = param.NewOpt(tool.Description)
		}
		out = append(out, openai.ChatCompletionFunctionTool(f))
	}
	return out, nil
}

// parameters returns a schema, with the type object and properties added if they are missing:
// the API requires both.
func parameters(schema json.RawMessage) (shared.FunctionParameters, error) {
	fields := map[string]json.RawMessage{}
	if len(schema) > 0 {
		if err := json.Unmarshal(schema, &fields); err != nil {
			return nil, err
		}
	}
	out := shared.FunctionParameters{"type": "object", "properties": json.RawMessage("{}")}
	for name, value := range fields {
		if string(value) != "null" {
			out[name] = value
		}
	}
	return out, nil
}
