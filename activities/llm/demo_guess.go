package llm

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// prepositions binds what follows "to", "from", "in" and the like.
func (b *binding) prepositions() {
	families := map[string]string{
		"to": targetLike, "into": targetLike, "from": sourceLike,
		"in": placeLike, "on": placeLike, "under": placeLike, "inside": placeLike, "at": placeLike, "for": placeLike,
	}
	for i, t := range b.tokens {
		family, ok := families[t.lower]
		if !ok || t.quoted || t.used {
			continue
		}
		p, found := b.firstFree(family)
		value := b.skipFillers(i + 1)
		if found && value < len(b.tokens) && !b.borders(value) && b.putAt(p, value, false) {
			b.tokens[i].used = true
		}
	}
}

func (b *binding) skipFillers(i int) int {
	for i < len(b.tokens) && !b.tokens[i].quoted && (fillers[b.tokens[i].lower] || b.noun(b.tokens[i])) {
		i++
	}
	return i
}

func (b *binding) noun(t token) bool { return b.tool.nouns[stem(t.lower)] && !t.quoted }

var extension = regexp.MustCompile(`^[^\s]*[^\s/]\.[A-Za-z][A-Za-z0-9]{0,9}$`)

// pathForm tells a path or a URL by its looks.
func pathForm(t token) bool {
	if t.quoted || t.key != "" || strings.ContainsAny(t.text, "^$*|[]{}") {
		return false
	}
	return strings.Contains(t.text, "/") || strings.HasPrefix(t.text, ".") || extension.MatchString(t.text)
}

func (b *binding) paths() {
	for i, t := range b.tokens {
		if p, ok := b.firstFree(pathLike); ok && pathForm(t) {
			b.putAt(p, i, false)
		}
	}
}

// switches binds booleans and the words of enumerations.
func (b *binding) switches() {
	for _, p := range b.free(func(p prop) bool { return len(p.enum) > 0 }) {
		for i, t := range b.tokens {
			if !t.used && slices.ContainsFunc(p.enum, func(e string) bool { return strings.EqualFold(e, t.text) }) {
				b.putAt(p, i, false)
			}
		}
	}
	for _, p := range b.free(func(p prop) bool { return p.kind == "boolean" }) {
		for i, t := range b.tokens {
			if t.lower == plain(p.name)+"ly" && !t.used {
				b.put(p, "true", false)
				b.tokens[i].used = true
			}
		}
	}
}

// flag is a boolean property named in the text: "recursive", "not recursive",
// "recursive false".
func (b *binding) flag(p prop, first, value int) bool {
	text := "true"
	if first > 0 && slices.Contains([]string{"not", "no", "without"}, b.tokens[first-1].lower) {
		text = "false"
	}
	if value < len(b.tokens) {
		if raw, err := boolean(p.name, b.tokens[value].text); err == nil && !b.tokens[value].used {
			text, b.tokens[value].used = string(raw), true
		}
	}
	b.tokens[first].used = true
	b.matched++
	return b.put(p, text, true)
}

func (b *binding) quotes() {
	for i, t := range b.tokens {
		if !t.quoted || t.used || t.key != "" {
			continue
		}
		free := b.free(func(p prop) bool { return p.required && p.kind == "string" })
		if len(free) > 0 {
			b.putAt(free[0], i, false)
			continue
		}
		b.optional(t.text, []int{i})
	}
}

func (b *binding) numbers() {
	for i, t := range b.tokens {
		if t.used || t.quoted || t.key != "" || !decimal.MatchString(t.text) {
			continue
		}
		for _, p := range b.free(func(p prop) bool {
			return (p.kind == "integer" || p.kind == "number") && (p.required || among("limit count n max top size", p.name))
		}) {
			if b.putAt(p, i, false) {
				break
			}
		}
	}
}

// remaining binds the words that are left: runs of them become the missing
// texts, in order.
func (b *binding) remaining() {
	for i := 0; i < len(b.tokens); i++ {
		if !b.content(i) {
			continue
		}
		end := b.runEnd(i)
		free := b.free(func(p prop) bool { return p.required })
		switch {
		case len(free) == 0:
			b.optional(b.text(i, end), indexes(i, end))
		case len(free) == 1 && free[0].kind == "string" && among(longLike, free[0].name):
			b.putRun(free[0], i)
		default:
			b.put(free[0], b.text(i, end), free[0].kind != "string")
		}
		for n := i; n < end; n++ {
			b.tokens[n].used = true
		}
		i = end
	}
}

// content tells whether the token says something that no rule has taken yet.
func (b *binding) content(i int) bool {
	t := b.tokens[i]
	if t.used || t.border || t.key != "" {
		return false
	}
	return t.quoted || !fillers[t.lower] && !b.noun(t) && !joiners[t.lower]
}

func (b *binding) runEnd(i int) int {
	for i < len(b.tokens) && b.content(i) {
		i++
	}
	return i
}

func (b *binding) text(from, to int) string {
	var run []string
	for _, t := range b.tokens[from:to] {
		run = append(run, t.text)
	}
	return strings.Join(run, " ")
}

func indexes(from, to int) []int {
	var out []int
	for ; from < to; from++ {
		out = append(out, from)
	}
	return out
}

// optional finds a place for a text that no required property wants: an ID if it
// looks like one, else an exact pattern, else whatever narrows the selection.
func (b *binding) optional(text string, at []int) {
	if p, ok := b.firstFree("id identifier uuid"); ok && idForm.MatchString(text) {
		b.take(p, text, at)
		return
	}
	if p, ok := b.firstFree("pattern regex regexp"); ok {
		if p.isRegexp() {
			text = "^" + regexp.QuoteMeta(text) + "$"
		}
		b.take(p, text, at)
		return
	}
	for _, family := range []string{patternLike, nameLike, pathLike} {
		if p, ok := b.firstFree(family); ok && len(b.args) == 0 {
			b.take(p, text, at)
			return
		}
	}
}

func (b *binding) take(p prop, text string, at []int) {
	if b.put(p, text, false) {
		for _, i := range at {
			b.tokens[i].used = true
		}
	}
}

// everything is the one case where leaving out what to remove says it all.
func (b *binding) everything() {
	p, ok := b.firstFree("pattern regex regexp")
	if !ok || len(b.args) > 0 || b.action != actionRemove || !p.isRegexp() {
		return
	}
	for _, t := range b.tokens {
		if t.lower == "all" || t.lower == "everything" || t.lower == "every" {
			b.args[p.name] = json.RawMessage(`".*"`)
		}
	}
}
