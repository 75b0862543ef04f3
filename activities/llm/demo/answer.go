package demo

import (
	"encoding/json"
	"fmt"
	"strings"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/workflows/contract"
)

const maxListed = 20

// maxDemoCalls bounds the calls of one reply.
const maxDemoCalls = 10

// demoAnswer returns the reply to a request. The request is carried out completely or not at
// all.
func demoAnswer(text string, offer []contract.Tool, callsBefore int) llm.Reply {
	tools := newDemoTools(offer)
	if answer := smallTalk(text, tools); answer != "" {
		return llm.Reply{Text: answer}
	}
	var calls []llm.Call
	var questions []string
	for _, part := range demoParts(text, tools) {
		b := understand(part, tools)
		switch {
		case b == nil:
			return llm.Reply{Text: "I did not understand that, and ran nothing. " + capabilities(tools)}
		case !b.complete():
			questions = append(questions, b.question())
		case len(calls) < maxDemoCalls:
			calls = append(calls, llm.Call{ID: llm.NumberedID(callsBefore + len(calls)), Name: b.tool.Name, Arguments: b.arguments()})
		}
	}
	if len(questions) > 0 {
		return llm.Reply{Text: strings.Join(questions, "\n")}
	}
	return llm.Reply{Calls: calls}
}

// demoParts splits a text into requests. A request to another agent is not split.
func demoParts(text string, tools []*demoTool) []string {
	if readDelegation(polite.ReplaceAllString(text, ""), tools) != nil {
		return []string{text}
	}
	return thenForm.Split(text, -1)
}

// arguments returns the bound values as JSON, ordered by name.
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
	text := "I need more to run " + b.tool.Name
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

// capabilities describes possible requests, with a sentence for each tool.
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

func trim(text string, limit int) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return llm.Cut(line, limit)
}

// example returns a message that leads to a call of the tool.
func (t *demoTool) example() string {
	text := "call " + t.Name
	for _, p := range t.props {
		if p.required {
			text += " " + p.name + "=" + p.sample()
		}
	}
	if b := newBinding(t); text == "call "+t.Name && !b.complete() && len(t.props) > 0 {
		text += " " + t.props[0].name + "=" + t.props[0].sample()
	}
	return text
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
