package demo

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/workflows/contract"
)

// Note explains the demo model's limits. It is the beginning of the model's first reply in a
// conversation.
const Note = "demo:rules is an offline stand-in without any intelligence: it understands a few " +
	"forms of words that name the tools on offer, and no more. Configure a real model and set its API key for anything else."

// maxDemoResult bounds how much of a tool's result the demo model repeats.
const maxDemoResult = 4 << 10

// Model is demo:rules: offline, free and deterministic. It reports results, returns
// greetings, and understands these forms. Each may contain words of politeness and be
// followed by "then" and another form:
//
//	call TOOL key=value …           or call TOOL {…}
//	add a NOUN named NAME with PROPERTY VALUE
//	list all the NOUNs              also "matching PATTERN"; show, get, read, find
//	remove the NOUN NAME            delete, drop; "remove all NOUNs"
//	ask AGENT to MESSAGE            or delegate to AGENT: MESSAGE
//
// VERB and NOUN are words of a tool's name, PROPERTY is one of its arguments. If any word is
// not understood, nothing is run, and the reply lists the possible requests.
//
// # Directives
//
// A system prompt may contain a line that begins with "demo:", in upper or lower case and
// after blanks. The last such line replaces the user's request; for other models it is a
// part of their prompt.
//
//	demo: list the resources        any request, as if the user had made it
//	demo: {user_message}            the user's own, placed in the prompt
//	demo: ask reviewer to check it  a call of a2a_reviewer
//	demo: say Found: {found}        a text: all from here to the end of the prompt
//	demo: exit the loop             a call of exit_loop, if that is on offer
//	demo: exit the loop if "ready" was found, else list the resources
//
// The last form looks for its text, ignoring case, in the prompt above the directive and in
// all texts and results of the conversation, the user's included; "else" may be followed by
// any directive, or by nothing. The prompt above should not contain the text itself.
// A directive's results are reported in the next reply, without Note.
//
// Besides these forms only the request "call exit_loop" calls exit_loop.
//
// If the request demands a call (llm.Request.Choice), it is made: of the demanded tool that the user's
// words ask for, else of the first one, with sample values.
type Model struct{}

// Generate implements llm.Model.
func (Model) Generate(ctx context.Context, r llm.Request) (llm.Reply, error) {
	if err := ctx.Err(); err != nil {
		return llm.Reply{}, &llm.Error{Kind: contract.KindModelUnavailable, Message: "the call to demo was cancelled", Err: err}
	}
	turns := llm.BuildTurns(r.Messages, nil)
	reply := demanded(demoReply(turns, r), turns, r)
	reply.Model, reply.Finish = contract.DemoModel, llm.FinishStop
	if len(reply.Calls) > 0 {
		reply.Finish = llm.FinishToolCalls
	}
	return reply, nil
}

func demoReply(turns []llm.Turn, r llm.Request) llm.Reply {
	if d, ok := directiveIn(r.System, lastText(r.Messages)); ok {
		return d.reply(turns, r)
	}
	reply := undirected(turns, r)
	if !hasSpoken(turns) {
		reply.Text = llm.Join(Note, reply.Text)
	}
	return reply
}

func undirected(turns []llm.Turn, r llm.Request) llm.Reply {
	if len(turns) > 0 {
		if last := turns[len(turns)-1]; len(last.Calls) > 0 {
			return llm.Reply{Text: reportAll(last.Calls)}
		} else if last.Role == contract.RoleAssistant {
			return llm.Reply{Text: "There is nothing new to answer."}
		}
	}
	return demoAnswer(lastText(r.Messages), r.Tools, callsMade(turns))
}

func hasSpoken(turns []llm.Turn) bool {
	for _, t := range turns {
		if t.Role == contract.RoleAssistant {
			return true
		}
	}
	return false
}

func callsMade(turns []llm.Turn) int {
	n := 0
	for _, t := range turns {
		n += len(t.Calls)
	}
	return n
}

// lastText returns the text of the user's last message, without what a program put in front of it:
// the model understands words of people only.
func lastText(messages []contract.Message) string {
	for _, m := range slices.Backward(messages) {
		if text := m.Content.Short(); m.Role == contract.RoleUser && !m.Notice && m.Approval == nil && text != "" {
			return strings.TrimSpace(text[max(0, min(m.Preface, len(text))):])
		}
	}
	return ""
}

func reportAll(calls []llm.PastCall) string {
	text := ""
	for _, c := range calls {
		text = llm.Join(text, report(c))
	}
	return text
}

func report(c llm.PastCall) string {
	result := c.Result
	if len(result) > maxDemoResult {
		result = llm.Cut(result, maxDemoResult) + fmt.Sprintf(" (the first 4 KB of %d bytes)", len(c.Result))
	}
	switch {
	case c.NotRun && strings.HasPrefix(c.Result, llm.Rejected):
		why := strings.TrimPrefix(c.Result, llm.Rejected)
		return fmt.Sprintf("Understood: %s was not run, because the call was rejected.%s", c.Name, why)
	case c.NotRun:
		return fmt.Sprintf("%s was not run.", c.Name)
	case c.IsError:
		return fmt.Sprintf("The tool %s answered with an error: %s", c.Name, result)
	case result == "":
		return fmt.Sprintf("The tool %s ran and returned nothing.", c.Name)
	}
	return fmt.Sprintf("The tool %s answered: %s", c.Name, result)
}
