package llm

import (
	"strings"

	"agent-stop-and-go/workflows/contract"
)

// textCalls takes the calls that a local model wrote into its text out of it, if
// the model is one of those (Entry.TextToolCalls). A call is
//
//   - an object {"name":…,"arguments":{…}} or {"name":…,"parameters":{…}}, or a
//     list of such, alone on its lines,
//   - <tool_call> around that, or around <function=…><parameter=…>…</parameter></function>,
//   - name(a="x", n=3), or a list of such in brackets, alone on a line,
//   - a fence of ``` around any of these and nothing else,
//
// to a tool on offer. All else stays text, and so do the model's thoughts, quotes
// and indented examples.
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

// textReader reads a text from one line's beginning to another's.
type textReader struct {
	names Names
	tools []contract.Tool
	rest  string
	// fenced: the text is what a fence holds.
	fenced bool
	// unclosed: a bracket of the text before has no end. What follows may be within.
	unclosed bool
	// misses counts tags whose JSON has no end: with too many, none is looked at.
	misses int

	text  strings.Builder
	calls []Call
}

func (t *textReader) read() {
	// Thoughts may lack their beginning, which is in the templates of some models.
	if end := strings.Index(t.rest, endThoughts); end >= 0 && !strings.Contains(t.rest[:end], "<think>") {
		t.keep(end + len(endThoughts))
	}
	for t.rest != "" {
		line := strings.TrimLeft(t.rest, " \t")
		switch indent := len(t.rest) - len(line); {
		case indent > 3, strings.Contains(t.rest[:indent], "\t"):
			t.keep(t.line())
		case strings.HasPrefix(line, "<think>"):
			t.keep(through(t.rest, endThoughts))
		case isFence(line) && !t.fenced:
			t.fence(indent)
		case strings.HasPrefix(line, openTag):
			t.tagged(indent)
		case strings.HasPrefix(line, "{"), strings.HasPrefix(line, "["):
			t.bare(indent)
		default:
			t.alone(t.line())
		}
	}
}

const endThoughts = "</think>"

func isFence(line string) bool {
	return strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~")
}

// line is the line that the rest begins with.
func (t *textReader) line() int { return through(t.rest, "\n") }

// through is how long a text is up to the end of what it is to hold; all of it if
// it does not hold that.
func through(text, end string) int {
	if i := strings.Index(text, end); i >= 0 {
		return i + len(end)
	}
	return len(text)
}

func (t *textReader) keep(n int) {
	t.text.WriteString(t.rest[:n])
	t.rest = t.rest[n:]
}

// cut takes n bytes out of the text if they are calls, and keeps them otherwise.
func (t *textReader) cut(n int, calls []Call) {
	if len(calls) == 0 {
		t.keep(n)
		return
	}
	t.calls = append(t.calls, calls...)
	t.rest = t.rest[n:]
}

// fence reads a fenced block, which is a call only as a whole.
func (t *textReader) fence(indent int) {
	first := t.line()
	mark := strings.TrimSpace(t.rest[indent:first])
	mark = mark[:len(mark)-len(strings.TrimLeft(mark, mark[:1]))]
	for at := first; at < len(t.rest); {
		end := at + through(t.rest[at:], "\n")
		if line := strings.TrimSpace(t.rest[at:end]); len(line) >= len(mark) && strings.Trim(line, mark[:1]) == "" {
			t.cut(end, t.block(t.rest[first:at]))
			return
		}
		at = end
	}
	t.keep(len(t.rest))
}

// block are the calls of a text that is nothing else.
func (t *textReader) block(text string) []Call {
	inner := textReader{names: t.names, tools: t.tools, rest: strings.TrimSpace(text), fenced: true}
	if inner.read(); strings.TrimSpace(inner.text.String()) != "" {
		return nil
	}
	return inner.calls
}

// bare reads JSON that stands alone on its lines, or a list of calls in brackets.
func (t *textReader) bare(indent int) {
	size := -1
	if !t.unclosed {
		size = jsonSize(t.rest[indent:])
		t.unclosed = size < 0
	}
	if size < 0 {
		t.alone(t.line())
		return
	}
	end := indent + size
	after := through(t.rest[end:], "\n")
	if strings.TrimSpace(t.rest[end:end+after]) != "" {
		t.alone(end + after)
		return
	}
	if calls := t.inJSON(t.rest[indent:end]); len(calls) > 0 {
		t.cut(end+after, calls)
		return
	}
	t.alone(end + after)
}

// alone reads n bytes that may be a call in the form of a function's.
func (t *textReader) alone(n int) { t.cut(n, t.inFunctions(strings.TrimSpace(t.rest[:n]))) }

// jsonSize is how long the object or list at the beginning of a text is; -1 if it
// has no end. What is between its brackets may be broken.
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

// own is the tool's own name, if a tool of that name is on offer.
func (t *textReader) own(name string) (string, bool) {
	if own, ok := t.names.own[name]; ok {
		return own, true
	}
	_, ok := t.names.wire[name]
	return name, ok
}
