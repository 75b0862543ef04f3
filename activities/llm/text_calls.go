package llm

import (
	"strings"

	"agent-stop-and-go/workflows/contract"
)

// textCalls extracts the calls that a local model wrote into its text, if the model has
// Entry.TextToolCalls. A call is
//
//   - an object {"name":…,"arguments":{…}} or {"name":…,"parameters":{…}}, or a
//     list of these, alone on its lines,
//   - <tool_call> around that, or around <function=…><parameter=…>…</parameter></function>,
//   - name(a="x", n=3), or a list of these in brackets, alone on a line,
//   - a fence of ``` around any of these and nothing else,
//
// to a tool on offer. Everything else stays text, including the model's thoughts, quotes and
// indented examples.
func (e Endpoint) textCalls(r Reply, tools []contract.Tool) Reply {
	if !e.TextToolCalls || len(tools) == 0 || len(r.Calls) > 0 || r.Finish == FinishRefusal {
		return r
	}
	t := textReader{names: NewNames(tools), tools: tools, rest: r.Text}
	t.read()
	if len(t.calls) == 0 {
		return r
	}
	r.Text, r.Calls, r.Native = strings.TrimSpace(t.text.String()), t.calls, nil
	if r.Finish == FinishStop {
		r.Finish = FinishToolCalls
	}
	return r
}

// textReader reads a text and stops only at the beginnings of lines.
type textReader struct {
	names Names
	tools []contract.Tool
	rest  string
	// inFence is set for the content of a fence.
	inFence bool
	// openBracket: a bracket of the text before has no end. What follows may be within.
	openBracket bool
	// unendedTags counts tags whose JSON has no end: with too many, none is looked at.
	unendedTags int

	text  strings.Builder
	calls []Call
}

func (t *textReader) read() {
	// The opening tag of thoughts may be missing: some models have it in their template.
	if end := strings.Index(t.rest, endThoughts); end >= 0 && !strings.Contains(t.rest[:end], "<think>") {
		t.keep(end + len(endThoughts))
	}
	for t.rest != "" {
		line := strings.TrimLeft(t.rest, " \t")
		switch indent := len(t.rest) - len(line); {
		case indent > 3, strings.Contains(t.rest[:indent], "\t"):
			t.keep(t.line())
		case strings.HasPrefix(line, "<think>"):
			t.keep(lengthThrough(t.rest, endThoughts))
		case isFence(line) && !t.inFence:
			t.readFence(indent)
		case strings.HasPrefix(line, openTag):
			t.readTag(indent)
		case strings.HasPrefix(line, "{"), strings.HasPrefix(line, "["):
			t.readJSON(indent)
		default:
			t.readFunctions(t.line())
		}
	}
}

const endThoughts = "</think>"

func isFence(line string) bool {
	return strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~")
}

// line returns the length of the current line.
func (t *textReader) line() int { return lengthThrough(t.rest, "\n") }

// lengthThrough returns the length of text up to and including end; all of it if end is
// missing.
func lengthThrough(text, end string) int {
	if i := strings.Index(text, end); i >= 0 {
		return i + len(end)
	}
	return len(text)
}

func (t *textReader) keep(n int) {
	t.text.WriteString(t.rest[:n])
	t.rest = t.rest[n:]
}

// takeCalls removes the next n bytes and adds their calls. Without calls the bytes stay text.
func (t *textReader) takeCalls(n int, calls []Call) {
	if len(calls) == 0 {
		t.keep(n)
		return
	}
	t.calls = append(t.calls, calls...)
	t.rest = t.rest[n:]
}

// readFence reads a fenced block. It is a call only if it contains nothing else.
func (t *textReader) readFence(indent int) {
	first := t.line()
	mark := strings.TrimSpace(t.rest[indent:first])
	mark = mark[:len(mark)-len(strings.TrimLeft(mark, mark[:1]))]
	for at := first; at < len(t.rest); {
		end := at + lengthThrough(t.rest[at:], "\n")
		if line := strings.TrimSpace(t.rest[at:end]); len(line) >= len(mark) && strings.Trim(line, mark[:1]) == "" {
			t.takeCalls(end, t.blockCalls(t.rest[first:at]))
			return
		}
		at = end
	}
	t.keep(len(t.rest))
}

// blockCalls returns the calls of a text that contains nothing else, else nil.
func (t *textReader) blockCalls(text string) []Call {
	inner := textReader{names: t.names, tools: t.tools, rest: strings.TrimSpace(text), inFence: true}
	if inner.read(); strings.TrimSpace(inner.text.String()) != "" {
		return nil
	}
	return inner.calls
}

// readJSON reads JSON that stands alone on its lines, or a list of calls in brackets.
func (t *textReader) readJSON(indent int) {
	size := -1
	if !t.openBracket {
		size = jsonSize(t.rest[indent:])
		t.openBracket = size < 0
	}
	if size < 0 {
		t.readFunctions(t.line())
		return
	}
	end := indent + size
	after := lengthThrough(t.rest[end:], "\n")
	if strings.TrimSpace(t.rest[end:end+after]) != "" {
		t.readFunctions(end + after)
		return
	}
	if calls := t.callsFromJSON(t.rest[indent:end]); len(calls) > 0 {
		t.takeCalls(end+after, calls)
		return
	}
	t.readFunctions(end + after)
}

// readFunctions reads n bytes that may be calls in the form of function calls.
func (t *textReader) readFunctions(n int) {
	t.takeCalls(n, t.callsFromFunctions(strings.TrimSpace(t.rest[:n])))
}

// jsonSize returns the length of the object or list at the beginning of a text, or -1 if it has
// no end. It only matches brackets: the JSON may be invalid.
func jsonSize(text string) int {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{', c == '[':
			depth++
		case c == '}', c == ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// ownName returns the tool's own name, if a tool of that name is on offer.
func (t *textReader) ownName(name string) (string, bool) {
	if own, ok := t.names.own[name]; ok {
		return own, true
	}
	_, ok := t.names.wire[name]
	return name, ok
}
