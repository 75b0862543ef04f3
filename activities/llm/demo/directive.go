package demo

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/workflows/contract"
)

var (
	directiveStart = regexp.MustCompile(`(?im)^[ \t]*(demo:)[ \t]*\S`)
	sayStart       = regexp.MustCompile(`(?i)^say(?:\s+|$)`)
	exitForm       = regexp.MustCompile(`(?i)^exit\s+(?:the\s+)?loop\s*[.!]?$`)
	exitIfForm     = regexp.MustCompile(`(?is)^exit\s+(?:the\s+)?loop\s+(?:if|when|once)\s+["'“]?(.+?)["'”]?\s+(?:was|were|is)\s+found\s*` +
		`(?:[.!]?$|[,;.]?\s*(?:else|otherwise)\s*[,:]?\s+)`)
	unfilled = regexp.MustCompile(`\{[A-Za-z0-9_]+\}`)
)

// directive is an instruction to the demo model in a system prompt.
type directive struct {
	above string // the prompt before it
	text  string // from its first word to the end of the prompt
	line  int    // how much of text is its own line
}

// directiveIn finds the last directive of a prompt. A line that repeats Note is not one. A
// user's message that is filled in belongs to the line, even with line breaks.
func directiveIn(system, message string) (directive, bool) {
	found := directiveStart.FindAllStringSubmatchIndex(system, -1)
	for i := len(found) - 1; i >= 0; i-- {
		start, after := found[i][2], found[i][3]
		if text := system[start:]; len(text) >= len(contract.DemoModel) && strings.EqualFold(text[:len(contract.DemoModel)], contract.DemoModel) {
			continue
		}
		d := directive{above: system[:start], text: strings.TrimSpace(system[after:])}
		d.line = lineEnd(d.text, 0)
		if at := strings.Index(d.text, message); at >= 0 && at < d.line {
			d.line = lineEnd(d.text, at+len(message))
		}
		return d, true
	}
	return directive{}, false
}

func lineEnd(text string, from int) int {
	if n := strings.IndexByte(text[from:], '\n'); n >= 0 {
		return from + n
	}
	return len(text)
}

// request returns the directive's own line.
func (d directive) request() string { return strings.TrimSpace(d.text[:d.line]) }

// reply carries the directive out, or reports its results.
func (d directive) reply(turns []llm.Turn, r llm.Request) llm.Reply {
	if n := len(turns); n > 0 && hasResultsToReport(turns[n-1]) && d.callsTools() {
		return llm.Reply{Text: reportAll(turns[n-1].Calls)}
	}
	return d.start(turns, r)
}

// start carries the directive out, whatever was called before.
func (d directive) start(turns []llm.Turn, r llm.Request) llm.Reply {
	if said := sayStart.FindString(d.text); said != "" {
		return llm.Reply{Text: cmp.Or(strings.TrimSpace(d.text[len(said):]), "There is nothing to say.")}
	}
	request := d.request()
	if exitForm.MatchString(request) {
		return exitLoop(turns, r.Tools)
	}
	wanted, otherwise, ok := d.condition()
	switch {
	case !ok:
		return demoAnswer(request, r.Tools, callsMade(turns))
	case d.found(wanted, turns):
		return exitLoop(turns, r.Tools)
	case otherwise.request() == "":
		return llm.Reply{Text: fmt.Sprintf("%q was not found.", wanted)}
	}
	return otherwise.start(turns, r)
}

// condition returns the text that must be found to exit the loop, and the directive for the
// other case. ok is false if the directive has no condition.
func (d directive) condition() (wanted string, otherwise directive, ok bool) {
	request := d.request()
	m := exitIfForm.FindStringSubmatchIndex(request)
	if m == nil {
		return "", directive{}, false
	}
	return request[m[2]:m[3]], directive{above: d.above, text: d.text[m[1]:], line: d.line - m[1]}, true
}

// callsTools reports whether the directive may call another tool than exit_loop. If it
// cannot, results in the conversation belong to another node.
func (d directive) callsTools() bool {
	if _, otherwise, ok := d.condition(); ok {
		return otherwise.callsTools()
	}
	request := d.request()
	return request != "" && !sayStart.MatchString(d.text) && !exitForm.MatchString(request)
}

// hasResultsToReport reports whether the turn has results of other tools than exit_loop, whose
// result needs no report.
func hasResultsToReport(t llm.Turn) bool {
	for _, c := range t.Calls {
		if c.Name != contract.ToolExitLoop {
			return true
		}
	}
	return false
}

// found reports whether a text is in the prompt above the directive or in the conversation.
// Placeholders without a value and arguments of calls are not searched.
func (d directive) found(wanted string, turns []llm.Turn) bool {
	wanted = strings.ToLower(wanted)
	holds := func(text string) bool { return strings.Contains(strings.ToLower(text), wanted) }
	if holds(unfilled.ReplaceAllString(d.above, " ")) {
		return true
	}
	for _, t := range turns {
		if holds(t.Text) {
			return true
		}
		for _, c := range t.Calls {
			if !c.NotRun && holds(c.Result) {
				return true
			}
		}
	}
	return false
}

func exitLoop(turns []llm.Turn, tools []contract.Tool) llm.Reply {
	for _, t := range tools {
		if t.Name == contract.ToolExitLoop {
			return llm.Reply{Calls: []llm.Call{{ID: llm.NumberedID(callsMade(turns)), Name: t.Name, Arguments: json.RawMessage("{}")}}}
		}
	}
	return llm.Reply{Text: "I am not in a loop, so there is none to exit."}
}
