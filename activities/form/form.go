// Package form is the form that a model's reply must have: any text, or JSON that fits a schema, and
// calls that are demanded.
package form

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/toolbox/schema"
	"agent-stop-and-go/workflows/contract"
)

const wantsJSON = "Reply with JSON only, without any text around it. It must fit this JSON Schema:\n"

// Output is the required form of a reply's text. Without a Schema it is any text.
type Output struct{ Schema json.RawMessage }

func (o Output) any() bool { return len(o.Schema) == 0 || string(o.Schema) == "null" }

// Ask adds the schema to a request.
func (o Output) Ask(r *llm.Request) {
	if o.any() {
		return
	}
	r.Schema = o.Schema
	r.System = strings.TrimSpace(r.System + "\n\n" + wantsJSON + string(o.Schema))
}

// Check returns the text as compact JSON, or why it does not fit.
func (o Output) Check(reply llm.Reply) (text, misfit string) {
	if o.any() || len(reply.Calls) > 0 {
		return reply.Text, ""
	}
	switch reply.Finish {
	case llm.FinishLength:
		return reply.Text, "it was cut off at the model's limit for one reply"
	case llm.FinishRefusal:
		return reply.Text, "the model refused: " + reply.Text
	}
	raw := withoutFence(reply.Text)
	if misfit := schema.Misfit(o.Schema, raw); misfit != "" {
		return reply.Text, misfit
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		return reply.Text, "it is not valid JSON: " + err.Error()
	}
	return compact.String(), ""
}

// withoutFence removes a markdown fence that encloses the whole text.
func withoutFence(text string) json.RawMessage {
	text = strings.TrimSpace(text)
	if inner, ok := strings.CutPrefix(text, "```"); ok {
		if inner, ok = strings.CutSuffix(inner, "```"); ok {
			_, text, _ = strings.Cut(inner, "\n") // after the name of the language
		}
	}
	return json.RawMessage(strings.TrimSpace(text))
}

// RepairMessages ask the model to correct its reply.
func RepairMessages(text string, r contract.Repair) []contract.Message {
	if r.Overrun {
		return []contract.Message{
			{Role: contract.RoleAssistant, Content: contract.Inline(cmp.Or(text, "(a reply of calls)"))},
			{Role: contract.RoleUser, Content: contract.Inline("Nothing of this reply was carried out: " + r.Problem +
				".\nReply once more and stay within the limit. What is left can be asked for in later replies.")},
		}
	}
	return []contract.Message{
		{Role: contract.RoleAssistant, Content: contract.Inline(text)},
		{Role: contract.RoleUser, Content: contract.Inline("This reply does not fit the schema: " + r.Problem +
			"\nReply once more, with nothing but JSON that fits it.")},
	}
}
