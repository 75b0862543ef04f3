package llm

import (
	"encoding/json"
	"fmt"
	"strings"
)

const (
	askPrefix = "I need more to run "
	maxListed = 20
)

// reply makes the calls, or asks for what they lack: a message is carried out
// whole or not at all.
func (p *planner) reply(callsBefore int) Reply {
	var questions []string
	for _, r := range p.requests {
		if !r.complete() {
			questions = append(questions, r.question())
		}
	}
	switch {
	case len(questions) > 0:
		return Reply{Text: strings.Join(questions, "\n")}
	case len(p.requests) == 0:
		return Reply{Text: "I found no tool for that. " + capabilities(p.tools)}
	case p.unknown:
		return Reply{Text: "I found no tool for a part of that, so I did nothing. " + capabilities(p.tools)}
	}
	var calls []Call
	for _, r := range p.requests {
		for range r.times {
			if len(calls) < maxDemoCalls {
				calls = append(calls, Call{ID: numberedID(callsBefore + len(calls)), Name: r.tool.Name, Arguments: r.arguments()})
			}
		}
	}
	return Reply{Calls: calls}
}

// arguments is the JSON of what was bound, in order of the names.
func (b *binding) arguments() json.RawMessage {
	raw, err := json.Marshal(b.args)
	if err != nil { // every value was encoded or checked before
		panic(err)
	}
	return raw
}

func (b *binding) question() string {
	missing := b.missing()
	var needs []string
	for _, p := range missing {
		needs = append(needs, fmt.Sprintf("%s (%s)", p.name, p.describe()))
	}
	glue := " and "
	if len(missing) > 0 && !missing[0].required {
		glue = " or "
	}
	text := askPrefix + b.tool.Name
	if len(needs) > 0 {
		text += ": " + strings.Join(needs, glue)
	}
	if len(b.bad) > 0 {
		text += "; " + strings.Join(b.bad, "; ")
	}
	return text + fmt.Sprintf(". Nothing was run. For example: %s", b.tool.example())
}

func (p prop) describe() string {
	if len(p.enum) > 0 {
		return "one of " + strings.Join(p.enum, ", ")
	}
	return p.kind
}

// capabilities says what can be asked for, with a sentence for each tool.
func capabilities(tools []*demoTool) string {
	if len(tools) == 0 {
		return "No tools are on offer, so there is nothing I can do."
	}
	var b strings.Builder
	b.WriteString("I can use these tools:")
	for i, t := range tools {
		if i == maxListed {
			fmt.Fprintf(&b, "\n… and %d more.", len(tools)-maxListed)
			break
		}
		about := ""
		if t.Description != "" {
			about = ": " + trim(t.Description, 120)
		}
		fmt.Fprintf(&b, "\n- %s%s (try: %s)", t.Name, about, t.example())
	}
	return b.String()
}

// example is a message that leads to a call of the tool.
func (t *demoTool) example() string {
	var b strings.Builder
	b.WriteString("call " + t.Name)
	named := 0
	for _, p := range t.props {
		if p.required {
			fmt.Fprintf(&b, " %s=%s", p.name, p.sample())
			named++
		}
	}
	if narrow := (&binding{tool: t}); named == 0 && narrow.removes() && len(t.props) > 0 {
		fmt.Fprintf(&b, " %s=%s", t.props[0].name, t.props[0].sample())
	}
	return b.String()
}

func (p prop) sample() string {
	switch p.kind {
	case "integer", "number":
		return "42"
	case "boolean":
		return "true"
	case "array":
		return `["alpha"]`
	case "object":
		return "{}"
	}
	if len(p.enum) > 0 {
		return `"` + p.enum[0] + `"`
	}
	return "alpha"
}
