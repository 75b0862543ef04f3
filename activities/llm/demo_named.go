package llm

import (
	"regexp"
	"slices"
	"strings"
)

// assignments binds key=value. Where the key is no property, it is itself the
// value of the first and the rest that of the second: "add a=1".
func (b *binding) assignments() {
	for i, t := range b.tokens {
		if t.key == "" {
			continue
		}
		b.tokens[i].used = true
		if p, ok := b.property(t.key); ok {
			b.matched++
			b.put(p, t.text, true)
			continue
		}
		free := b.free(func(p prop) bool { return p.required })
		if len(free) >= 2 && b.put(free[0], t.key, false) {
			b.put(free[1], t.text, true)
		}
	}
}

// named binds what follows "named" and "called".
func (b *binding) named() {
	for i, t := range b.tokens {
		if t.quoted || t.used || !slices.Contains([]string{"named", "called", "titled"}, t.lower) {
			continue
		}
		p, ok := b.firstFree(nameLike)
		if !ok || !p.required && b.takesPattern() {
			continue // the word that remains narrows the selection
		}
		if b.putAt(p, b.after(i), true) {
			b.tokens[i].used = true
		}
	}
}

func (b *binding) takesPattern() bool {
	_, ok := b.firstFree("pattern regex regexp")
	return ok
}

// after is the index of the value that follows a word, past "is", "of" and "to".
func (b *binding) after(i int) int {
	for i++; i < len(b.tokens); i++ {
		if !slices.Contains([]string{"is", "of", "to", "as", "equals", "equal", "=", ":", "with"}, b.tokens[i].lower) || b.tokens[i].quoted {
			break
		}
	}
	return i
}

// patterns binds what follows "matching", "containing", "starting with" and
// "ending with".
func (b *binding) patterns() {
	form := map[string][2]string{
		"matching": {}, "matches": {}, "match": {}, "like": {}, "containing": {"", ""}, "contains": {"", ""},
		"starting": {"^", ""}, "beginning": {"^", ""}, "start": {"^", ""}, "ending": {"", "$"}, "end": {"", "$"},
	}
	for i, t := range b.tokens {
		around, ok := form[t.lower]
		p, found := b.firstFree(patternLike)
		value := b.after(i)
		if !ok || !found || t.quoted || t.used || value >= len(b.tokens) || b.tokens[value].used {
			continue
		}
		text := b.tokens[value].text
		if !slices.Contains([]string{"matching", "matches", "match", "like"}, t.lower) && p.isRegexp() {
			text = around[0] + regexp.QuoteMeta(text) + around[1]
		}
		if b.put(p, text, true) {
			b.tokens[i].used, b.tokens[value].used = true, true
		}
	}
}

func (p prop) isRegexp() bool {
	return among("pattern regex regexp", p.name) && !strings.Contains(p.about, "glob")
}

// labels binds what follows the name of a property: "with value 42".
func (b *binding) labels() {
	for _, p := range b.free(func(prop) bool { return true }) {
		names := words(p.name)
		for i := 0; i+len(names) <= len(b.tokens) && len(names) > 0; i++ {
			if b.spells(i, names) && b.label(p, i, i+len(names)-1) {
				break
			}
		}
	}
}

func (b *binding) spells(i int, names []string) bool {
	for n, name := range names {
		if t := b.tokens[i+n]; t.lower != name || t.quoted || t.used || t.key != "" {
			return false
		}
	}
	return true
}

// label binds the value after a property's name, which ends at last.
func (b *binding) label(p prop, first, last int) bool {
	value := b.after(last)
	if p.kind == "boolean" {
		return b.flag(p, first, value)
	}
	if value >= len(b.tokens) || b.tokens[value].used || b.borders(value) {
		return false
	}
	b.matched++
	if p.kind == "string" && among(longLike, p.name) && !b.tokens[value].quoted {
		b.putRun(p, value)
	} else {
		b.putAt(p, value, true)
	}
	for i := first; i <= last; i++ {
		b.tokens[i].used = true
	}
	return true
}

// borders tells whether the word at i belongs to something else already.
func (b *binding) borders(i int) bool {
	t := b.tokens[i]
	if t.quoted {
		return false
	}
	_, isProp := b.property(t.lower)
	return t.border || t.key != "" || isProp || joiners[t.lower] || t.lower == "in" || t.lower == "at"
}

// putRun binds all words from i to the next border.
func (b *binding) putRun(p prop, i int) {
	var run []string
	for ; i < len(b.tokens) && !b.tokens[i].used && !b.stops(i); i++ {
		run = append(run, b.tokens[i].text)
		b.tokens[i].used = true
	}
	b.put(p, strings.Join(run, " "), true)
}

// stops is the end of a long text: another property's value, or where to put it.
func (b *binding) stops(i int) bool {
	t := b.tokens[i]
	if t.key != "" {
		return true
	}
	if i+1 >= len(b.tokens) || t.quoted {
		return false
	}
	_, isProp := b.property(b.tokens[i+1].lower)
	return t.lower == "with" && isProp || slices.Contains([]string{"to", "into", "in"}, t.lower) && pathForm(b.tokens[i+1])
}
