package llm

import (
	"context"
	"fmt"
	"strings"

	"agent-stop-and-go/workflows/contract"
)

// DemoNote says what the demo model is not. It opens the model's first reply of
// a conversation.
const DemoNote = "demo:rules is an offline stand-in without any intelligence: it only matches the words of a message " +
	"against the tools on offer. Configure a real model and set its API key for anything else."

// maxDemoResult bounds how much of a tool's result the demo model repeats.
const maxDemoResult = 4 << 10

// Demo is demo:rules: offline, free, and the same answer to the same
// conversation every time. Rules only, in this order: results are reported,
// greetings returned, requests matched to tools (demo_match.go) and their
// arguments taken from the text by the tool's schema (demo_bind.go).
type Demo struct{}

// Generate implements Model.
func (Demo) Generate(ctx context.Context, r Request) (Reply, error) {
	if err := ctx.Err(); err != nil {
		return Reply{}, &Error{Kind: contract.KindModelUnavailable, Message: "the call to demo was cancelled", Err: err}
	}
	turns := Exchange(r.Messages)
	reply := demoReply(turns, r)
	if !spoken(turns) {
		reply.Text = join(DemoNote, reply.Text)
	}
	reply.Model, reply.Finish = contract.DemoModel, FinishStop
	if len(reply.Calls) > 0 {
		reply.Finish = FinishToolCalls
	}
	return reply, nil
}

func demoReply(turns []Turn, r Request) Reply {
	if len(turns) > 0 {
		if last := turns[len(turns)-1]; len(last.Calls) > 0 {
			return Reply{Text: reportAll(last.Calls)}
		} else if last.Role == contract.RoleAssistant {
			return Reply{Text: "There is nothing new to answer."}
		}
	}
	tools := newDemoTools(r.Tools)
	text := demoQuestion(r.Messages)
	if answer := smallTalk(text, tools); answer != "" {
		return Reply{Text: answer}
	}
	p := planner{tools: tools}
	p.read(text)
	return p.reply(callsMade(turns))
}

func spoken(turns []Turn) bool {
	for _, t := range turns {
		if t.Role == contract.RoleAssistant {
			return true
		}
	}
	return false
}

func callsMade(turns []Turn) int {
	n := 0
	for _, t := range turns {
		n += len(t.Calls)
	}
	return n
}

// demoQuestion is the user's last text. When it answers a question of the demo
// model, the request that the question was about comes first.
func demoQuestion(messages []contract.Message) string {
	var texts []string
	asked := false
	for _, m := range messages {
		text := m.Content.Short()
		switch {
		case m.Notice || text == "" || m.Approval != nil:
		case m.Role == contract.RoleAssistant:
			asked = strings.Contains(text, askPrefix)
		case m.Role == contract.RoleUser:
			if n := len(texts); n > 0 && asked && !hasVerb(text) {
				text = texts[n-1] + " " + text
			}
			texts, asked = append(texts, text), false
		}
	}
	if len(texts) == 0 {
		return ""
	}
	return texts[len(texts)-1]
}

func reportAll(calls []PastCall) string {
	text := ""
	for _, c := range calls {
		text = join(text, report(c))
	}
	return text
}

func report(c PastCall) string {
	result := c.Result
	if len(result) > maxDemoResult {
		result = cut(result, maxDemoResult) + fmt.Sprintf(" (the first 4 KB of %d bytes)", len(c.Result))
	}
	switch {
	case c.NotRun && c.Result == Rejected:
		return fmt.Sprintf("Understood: %s was not run, because the call was rejected.", c.Name)
	case c.NotRun:
		return fmt.Sprintf("%s was not run.", c.Name)
	case c.IsError:
		return fmt.Sprintf("The tool %s answered with an error: %s", c.Name, result)
	case result == "":
		return fmt.Sprintf("The tool %s ran and returned nothing.", c.Name)
	}
	return fmt.Sprintf("The tool %s answered: %s", c.Name, result)
}
