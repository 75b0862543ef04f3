package llm

import (
	"slices"

	"agent-stop-and-go/workflows/contract"
)

// weak verbs open questions: alone they say nothing about what is wanted.
var weak = set("what which how give tell")

// match finds the tool that fits the words best, with its arguments; nil if none
// fits. Of equals the first on offer wins.
func match(tools []*demoTool, tokens []token, previous *demoTool) *binding {
	var best *binding
	top := 0
	for _, t := range tools {
		b, score := rate(t, tokens)
		if t == previous {
			score += 2
		}
		if b != nil && score > top {
			best, top = b, score
		}
	}
	return best
}

// rate says how well a tool fits; nil if it does not.
func rate(t *demoTool, tokens []token) (*binding, int) {
	v, hasVerb := verbIn(tokens)
	if mentions(t, tokens) {
		return bind(t, tokens, v.action), 1000
	}
	if t.Name == contract.ToolExitLoop || t.peer() != "" {
		return nil, 0 // words alone do not lead there
	}
	nouns := nounHits(t, tokens)
	fit := 0
	switch {
	case hasVerb && len(t.verbs) > 0:
		if fit = verbFit(t, v); fit == 0 || weak[v.word] && nouns == 0 {
			return nil, 0
		}
	case nouns == 0, !hasVerb && !onlyReads(t):
		return nil, 0
	}
	b := bind(t, tokens, v.action)
	return b, 1 + fit + 4*nouns + aboutHits(t, tokens) + hintFit(t, v) + bindingFit(b)
}

func verbIn(tokens []token) (verb, bool) {
	if i := firstVerb(tokens); i >= 0 {
		return verbOf(tokens[i].lower)
	}
	return verb{}, false
}

// mentions: the request calls the tool by its full name.
func mentions(t *demoTool, tokens []token) bool {
	if t.Name == contract.ToolExitLoop {
		return asksToExit(tokens)
	}
	name := plain(t.Name)
	return slices.ContainsFunc(tokens, func(tok token) bool {
		return !tok.quoted && tok.key == "" && len(t.words) > 1 && plain(tok.lower) == name
	})
}

// asksToExit: the request says "call exit_loop" and nothing more. With more words
// it may be a condition, or the opposite.
func asksToExit(tokens []token) bool {
	var said []string
	for _, t := range tokens {
		if t.quoted || t.key != "" {
			return false
		}
		if t.lower != "please" && t.lower != "now" {
			said = append(said, t.lower)
		}
	}
	return slices.Equal(said, []string{"call", contract.ToolExitLoop})
}

// verbFit: the same word, one that stands in for it, or at least one that does
// the same kind of thing.
func verbFit(t *demoTool, v verb) int {
	best := 0
	for _, own := range t.verbs {
		switch {
		case own.word == v.word:
			best = max(best, 13)
		case own.group == v.group:
			best = max(best, 11)
		case own.action == v.action:
			best = max(best, 10)
		case modifies(own.action) && modifies(v.action):
			best = max(best, 4)
		}
	}
	return best
}

func modifies(a action) bool { return a == actionCreate || a == actionChange }

func onlyReads(t *demoTool) bool {
	if t.DestructiveHint {
		return false
	}
	return !slices.ContainsFunc(t.verbs, func(v verb) bool { return v.action != actionRead })
}

func nounHits(t *demoTool, tokens []token) int {
	n := 0
	for _, tok := range tokens {
		if !tok.quoted && tok.key == "" && t.nouns[stem(tok.lower)] {
			n++
		}
		if t.nouns["file"] && pathForm(tok) && extension.MatchString(tok.text) {
			n++
		}
	}
	return n
}

func aboutHits(t *demoTool, tokens []token) int {
	n := 0
	for _, tok := range tokens {
		if tok.quoted || fillers[tok.lower] || tok.key != "" {
			continue
		}
		if slices.ContainsFunc(t.about, func(w string) bool { return stem(w) == stem(tok.lower) }) {
			n++
		}
	}
	return min(n, 2)
}

// hintFit prefers a tool whose hint says what the verb means.
func hintFit(t *demoTool, v verb) int {
	if v.action == "" || (v.action == actionRead) == t.DestructiveHint {
		return 0
	}
	return 1
}

// bindingFit prefers the tool that has a use for what was said.
func bindingFit(b *binding) int {
	score := 2 * b.matched
	if b.complete() {
		score += 2
	}
	unused := 0
	for i := range b.tokens {
		if b.content(i) {
			unused++
		}
	}
	return score - min(unused, 3)
}
