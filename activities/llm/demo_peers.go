package llm

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"agent-stop-and-go/workflows/contract"
)

// errand is a part of a message that asks another agent for something.
type errand struct {
	tool     *demoTool
	message  string // empty if the user did not say what to ask
	from, to int    // where it stands in the message
}

func (e errand) request() request {
	b := &binding{tool: e.tool, args: map[string]json.RawMessage{}}
	if e.message != "" {
		b.args[peerMessage] = quoteJSON(e.message)
	}
	return request{binding: b, times: 1}
}

// peerMessage is the argument of a tool that delegates.
const peerMessage = "message"

var peerPrefix = contract.Peer{}.Tool()

// peer is the name of the agent that the tool delegates to; empty if it does not.
func (t *demoTool) peer() string {
	name, ok := strings.CutPrefix(t.Name, peerPrefix)
	if !ok || !slices.ContainsFunc(t.props, func(p prop) bool { return p.name == peerMessage }) {
		return ""
	}
	return name
}

// errands finds "ask NAME to …" and "delegate to NAME: …", which go on to the
// next errand, and "delegate … to NAME".
func (p *planner) errands(text string) []errand {
	form := errandForm(p.tools)
	if form == nil {
		return nil
	}
	var out []errand
	for _, m := range form.FindAllStringSubmatchIndex(text, -1) {
		group := func(n int) string { return text[max(0, m[2*n]):max(0, m[2*n+1])] }
		tool := p.peerNamed(group(1) + group(3))
		if tool == nil || strings.HasPrefix(text[m[1]:], "-") {
			continue // another name, that begins like this one
		}
		out = append(out, errand{tool: tool, message: group(2), from: m[0], to: m[1]})
	}
	extend(out, text)
	return out
}

// extend gives the errands without a message the text that follows them.
func extend(errands []errand, text string) {
	for i := range errands {
		e := &errands[i]
		if e.message == "" {
			start, end := e.to, len(text)
			if i+1 < len(errands) {
				end = errands[i+1].from
			}
			e.message, e.to = text[start:end], end
		}
		e.message = unquoted(e.message)
	}
}

// errandForm has the groups: the name that is asked; or what to delegate, and
// the name. It is nil without tools that delegate.
func errandForm(tools []*demoTool) *regexp.Regexp {
	var names []string
	for _, t := range tools {
		if parts := words(t.peer()); len(parts) > 0 {
			names = append(names, strings.Join(parts, `[\s_-]*`))
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.SortStableFunc(names, func(a, b string) int { return len(b) - len(a) })
	who := `(?:the\s+)?(?:agent\s+)?["']?(?:` + peerPrefix + `)?(` + strings.Join(names, "|") + `)["']?(?:\s+agent)?`
	return regexp.MustCompile(`(?is)(?:^\s*|[,;.!?\n]\s*|\b(?:and|then|also|plus)\s+)` +
		`(?:(?:and|then|also|plus|please|now|could you|can you|would you)\s+)*` +
		`(?:(?:ask|delegate\s+to)\s+` + who + `(?:\s*[:,]\s*|\s+to\s+|\s+|[.!?]*\s*$)|delegate\s+("[^"]*"|.+?)\s+to\s+` + who + `\b)`)
}

func (p *planner) peerNamed(name string) *demoTool {
	for _, t := range p.tools {
		if t.peer() != "" && plain(t.peer()) == plain(name) {
			return t
		}
	}
	return nil
}

// unquoted is a text without the blanks and the quotation marks around it.
func unquoted(text string) string {
	text = strings.TrimSpace(text)
	for open, end := range closing {
		inner, quoted := strings.CutPrefix(text, string(open))
		if inner, ok := strings.CutSuffix(inner, end); ok && quoted && !strings.Contains(inner, end) {
			return inner
		}
	}
	return text
}
