package demo

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"agent-stop-and-go/workflows/contract"
)

// binding is a tool with the arguments from a request.
type binding struct {
	tool *demoTool
	args map[string]json.RawMessage
	bad  []string // why a value does not fit
}

func newBinding(t *demoTool) *binding { return &binding{tool: t, args: map[string]json.RawMessage{}} }

// understand finds the tool and the arguments of a request; nil if a word of it is not
// understood, or if more than one tool fits.
func understand(text string, tools []*demoTool) *binding {
	text = polite.ReplaceAllString(text, "")
	if b := readDelegation(text, tools); b != nil {
		return b
	}
	tokens := lex(text)
	if n := len(tokens); n > 0 && slices.Contains([]string{"please", "now"}, tokens[n-1].lower) {
		tokens = tokens[:n-1]
	}
	switch {
	case len(tokens) < 2 || tokens[0].quoted || tokens[0].key != "":
		return nil
	case tokens[0].lower == "call":
		return readCall(text, tokens[1:], tools)
	}
	return readPhrase(tokens, tools)
}

// readCall reads "call TOOL key=value …" and "call TOOL {…}".
func readCall(text string, tokens []token, tools []*demoTool) *binding {
	i := slices.IndexFunc(tools, func(t *demoTool) bool { return t.Name != "" && t.Name == tokens[0].text })
	if i < 0 || tokens[0].quoted {
		return nil
	}
	b := newBinding(tools[i])
	if _, object, _ := strings.Cut(text, tokens[0].text); strings.HasPrefix(strings.TrimSpace(object), "{") {
		if json.Unmarshal([]byte(object), &b.args) != nil {
			return nil
		}
		return b
	}
	for _, t := range tokens[1:] {
		p, ok := b.tool.property(t.key)
		if !ok || !b.put(p, t.text) {
			return nil
		}
	}
	return b
}

// readPhrase reads "VERB NOUN", followed by a name and values.
func readPhrase(tokens []token, tools []*demoTool) *binding {
	verb, n := tokens[0].lower, 1
	all := false
	for n < len(tokens)-1 && determiners[tokens[n].lower] && !tokens[n].quoted {
		all = all || tokens[n].lower == "all"
		n++
	}
	if tokens[n].quoted || tokens[n].key != "" {
		return nil
	}
	t := matchTool(verb, stem(tokens[n].lower), tools)
	if t == nil {
		return nil
	}
	b := newBinding(t)
	if !b.read(tokens[n+1:], !all) {
		return nil
	}
	if p, ok := t.property("pattern"); ok && all && len(b.args) == 0 && actions[verb] == actionRemove {
		b.put(p, ".*")
	}
	return b
}

// matchTool finds the tool for a verb and a noun: the one with the same verb in its name,
// else the only one with the same action.
func matchTool(verb, noun string, tools []*demoTool) *demoTool {
	var same, alike []*demoTool
	for _, t := range tools {
		switch {
		case actions[verb] == "" || !t.nouns[noun] && (!anyNoun[noun] || len(t.nouns) == 0):
		case slices.Contains(t.words, verb):
			same = append(same, t)
		case slices.Contains(t.actions, actions[verb]):
			alike = append(alike, t)
		}
	}
	for _, found := range [][]*demoTool{same, alike} {
		if len(found) == 1 {
			return found[0]
		}
		if len(found) > 1 {
			return nil
		}
	}
	return nil
}

// read reads the arguments; false if a word is not understood. With one set, they may begin
// with a name without its property.
func (b *binding) read(tokens []token, one bool) bool {
	for i := 0; i < len(tokens); {
		if b.filler(tokens[i:]) {
			i++
			continue
		}
		n := b.value(tokens[i:], one && i == 0)
		if n == 0 {
			return false
		}
		i += n
	}
	return true
}

// filler reports whether the first word has no meaning; an article has none only before a
// property.
func (b *binding) filler(tokens []token) bool {
	t := tokens[0]
	if t.quoted || t.key != "" {
		return false
	}
	if len(tokens) > 1 && articles[t.lower] {
		_, isProp := b.tool.property(tokens[1].lower)
		return isProp && !tokens[1].quoted
	}
	return fillers[t.lower]
}

// value reads one argument and returns its number of words; 0 if there is none. A single
// word directly after the noun is a name.
func (b *binding) value(tokens []token, one bool) int {
	t := tokens[0]
	if p, ok := b.tool.property(t.key); ok {
		return span(b.put(p, t.text), 1)
	}
	if t.key != "" {
		return 0
	}
	if !t.quoted && len(tokens) > 1 {
		n := 1
		for n < len(tokens)-1 && links[tokens[n].lower] {
			n++
		}
		value := tokens[n].text
		p, isProp := b.tool.property(t.lower)
		switch {
		case tokens[n].key != "":
		case t.lower == "named" || t.lower == "called":
			return span(b.putName(value), n+1)
		case t.lower == "matching":
			p, isProp = b.tool.property("pattern")
			return span(isProp && b.put(p, value), n+1)
		case isProp:
			return span(b.put(p, value), n+1)
		}
	}
	return span(one && b.putName(t.text), 1)
}

func span(ok bool, n int) int {
	if !ok {
		return 0
	}
	return n
}

// put sets a property and reports whether it was unset. A value of the wrong type is
// recorded in bad.
func (b *binding) put(p prop, text string) bool {
	if b.args[p.name] != nil {
		return false
	}
	value, err := p.value(text)
	if err != nil {
		b.bad = append(b.bad, err.Error())
		return true
	}
	b.args[p.name] = value
	return true
}

// putName stores a name in the first required text property, else in a pattern that matches
// the name only, else in an ID.
func (b *binding) putName(text string) bool {
	for _, p := range b.tool.props {
		if p.required && p.kind == "string" && b.args[p.name] == nil {
			return b.put(p, text)
		}
	}
	if p, ok := b.tool.property("pattern"); ok {
		return b.put(p, "^"+regexp.QuoteMeta(text)+"$")
	}
	for _, name := range []string{"name", "id"} {
		if p, ok := b.tool.property(name); ok {
			return b.put(p, text)
		}
	}
	return false
}

// missing lists the properties that the call lacks: the required ones, or all of a tool that
// removes and would be called without arguments.
func (b *binding) missing() []prop {
	var out []prop
	for _, p := range b.tool.props {
		if p.required && b.args[p.name] == nil {
			out = append(out, p)
		}
	}
	if len(out) == 0 && len(b.args) == 0 && slices.Contains(b.tool.actions, actionRemove) {
		return b.tool.props
	}
	return out
}

func (b *binding) complete() bool { return len(b.missing()) == 0 && len(b.bad) == 0 }

// peerMessage is the argument of a tool that delegates.
const peerMessage = "message"

var (
	peerPrefix = contract.Peer{}.Tool()
	errandForm = regexp.MustCompile(`(?is)^(?:ask|delegate\s+to)\s+(?:the\s+)?(?:agent\s+)?["']?([\pL\pN_-]+)["']?(?:\s+agent)?(?:\s*[:,]\s*|\s+to\s+|\s+|\s*$)(.*)$`)
)

// readDelegation reads "ask NAME to …" and "delegate to NAME: …". The rest of the text is the
// message.
func readDelegation(text string, tools []*demoTool) *binding {
	m := errandForm.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	for _, t := range tools {
		name, isPeer := strings.CutPrefix(t.Name, peerPrefix)
		p, takes := t.property(peerMessage)
		if !isPeer || !takes || !strings.EqualFold(name, m[1]) && !strings.EqualFold(t.Name, m[1]) {
			continue
		}
		b := newBinding(t)
		if message := strings.TrimSpace(m[2]); message != "" {
			b.put(p, message)
		}
		return b
	}
	return nil
}
