package llm

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// binding is a tool with the arguments that one request holds for it.
type binding struct {
	tool    *demoTool
	tokens  []token // a copy: each is used once
	action  action
	args    map[string]json.RawMessage
	bad     []string // why a value does not fit
	matched int      // properties that the text names
}

// bind takes the arguments from the tokens: what is named first, then what only
// its form gives away, the remaining words last.
func bind(t *demoTool, tokens []token, a action) *binding {
	b := &binding{tool: t, tokens: slices.Clone(tokens), action: a, args: map[string]json.RawMessage{}}
	b.dropVerb()
	for _, step := range []func(){
		b.assignments, b.named, b.patterns, b.labels, b.prepositions, b.paths, b.switches, b.quotes, b.numbers,
		b.remaining, b.everything,
	} {
		step()
	}
	return b
}

// missing lists the properties without which the call makes no sense: the
// required ones, or any one of them where a tool that removes would otherwise
// be called without arguments.
func (b *binding) missing() []prop {
	var out []prop
	for _, p := range b.tool.props {
		if p.required && b.args[p.name] == nil {
			out = append(out, p)
		}
	}
	if len(out) == 0 && len(b.args) == 0 && b.removes() {
		return b.tool.props
	}
	return out
}

func (b *binding) removes() bool {
	return slices.ContainsFunc(b.tool.verbs, func(v verb) bool { return v.action == actionRemove })
}

func (b *binding) complete() bool { return len(b.missing()) == 0 && len(b.bad) == 0 }

func (b *binding) dropVerb() {
	if i := firstVerb(b.tokens); i >= 0 {
		b.tokens[i].used = true
	}
	for i, t := range b.tokens {
		if t.lower == strings.ToLower(b.tool.Name) && t.key == "" {
			b.tokens[i].used = true
		}
	}
}

// firstVerb is the index of the first free word that is a verb, or -1.
func firstVerb(tokens []token) int {
	return slices.IndexFunc(tokens, func(t token) bool {
		_, ok := verbOf(t.lower)
		return ok && !t.quoted && t.key == "" && !t.used
	})
}

// put binds a value; it reports whether it fits. Explicit values that do not fit
// are worth a complaint.
func (b *binding) put(p prop, text string, explicit bool) bool {
	if b.args[p.name] != nil {
		return false
	}
	value, err := p.value(text)
	if err != nil {
		if explicit {
			b.bad = append(b.bad, err.Error())
		}
		return false
	}
	b.args[p.name] = value
	return true
}

// putAt binds the token at i and marks it used.
func (b *binding) putAt(p prop, i int, explicit bool) bool {
	if i < 0 || i >= len(b.tokens) || b.tokens[i].used || b.tokens[i].key != "" {
		return false
	}
	ok := b.put(p, b.tokens[i].text, explicit)
	b.tokens[i].used = ok || explicit
	return ok
}

// free lists the properties that have no value yet and pass the test.
func (b *binding) free(test func(prop) bool) []prop {
	var out []prop
	for _, p := range b.tool.props {
		if b.args[p.name] == nil && test(p) {
			out = append(out, p)
		}
	}
	return out
}

// firstFree is the first free property by the names given, in their order.
func (b *binding) firstFree(names string) (prop, bool) {
	for _, name := range strings.Fields(names) {
		if found := b.free(func(p prop) bool { return plain(p.name) == name }); len(found) > 0 {
			return found[0], true
		}
	}
	return prop{}, false
}

func plain(name string) string { return strings.Join(words(name), "") }

func (b *binding) property(name string) (prop, bool) {
	for _, p := range b.tool.props {
		if plain(p.name) == plain(name) {
			return p, true
		}
	}
	return prop{}, false
}

// Families of property names.
const (
	nameLike    = "name title key path filepath file filename label id"
	patternLike = "pattern regex regexp glob match query q search searchterm filter text name"
	pathLike    = "path filepath filename file source src from directory dir folder destination dest target to uri url"
	placeLike   = "root location city place collection category directory dir folder path filepath filename file"
	targetLike  = "destination dest target to newpath newname recipient path filepath filename file"
	sourceLike  = "source src from root path filepath directory dir folder"
	longLike    = "content text message body description prompt question query comment note q"
)

func among(list, name string) bool { return slices.Contains(strings.Fields(list), plain(name)) }

var idForm = regexp.MustCompile(`^(\d+|[0-9a-fA-F]{8}-[0-9a-fA-F-]{27})$`)
