package config

import (
	"strings"

	"agent-stop-and-go/config/outputschema"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/template"
)

// field warns about a placeholder for a field that its source does not have, if the schema
// shows that.
func (w warner) field(p nodeContext, h template.Placeholder, setters []nodeContext) {
	if len(h.Path) == 0 {
		return
	}
	if h.Key == contract.KeyUserMessage {
		w.atPrompt(p, h, "is empty: the user's message is text, unless it happens to be JSON")
		return
	}
	var without []string
	for _, s := range setters {
		switch {
		case s.OutputSchema == nil:
		case outputschema.MayHave(s.OutputSchema, h.Path):
			return
		default:
			without = append(without, quote(s.Name))
		}
	}
	if len(without) > 0 {
		w.atPrompt(p, h, "is empty: the output_schema of "+strings.Join(without, " and of ")+" has no such property")
		return
	}
	w.atPrompt(p, h, "is empty: the output of "+quote(setters[0].Name)+" is text, unless it happens to be JSON; an output_schema makes it so")
}
