package llm

import (
	"slices"
	"strings"
	"unicode"
)

// action is what a verb does.
type action string

const (
	actionRead   action = "read"
	actionCreate action = "create"
	actionChange action = "change"
	actionRemove action = "remove"
)

// verbs lists the verbs by action; the words of one line stand in for each other.
var verbs = indexVerbs(map[action][]string{
	actionRead: {
		"list ls enumerate browse", "show display print view see describe inspect what which how give tell",
		"get fetch read cat open load retrieve download", "find search look lookup query locate grep filter",
		"count check stat status info tree",
	},
	actionCreate: {
		"add create make insert register record new", "put store save set write append", "upload generate build mkdir touch",
	},
	actionChange: {"update edit change modify patch replace", "rename move mv", "copy cp"},
	actionRemove: {"remove delete drop erase destroy rm rmdir purge clear discard unlink wipe"},
})

type verb struct {
	word, group string
	action      action
}

func indexVerbs(table map[action][]string) map[string]verb {
	out := map[string]verb{}
	for a, groups := range table {
		for _, group := range groups {
			for _, w := range strings.Fields(group) {
				out[w] = verb{word: w, group: group, action: a}
			}
		}
	}
	return out
}

// verbOf knows a verb also with an s: "lists", "Adds".
func verbOf(word string) (verb, bool) {
	if v, ok := verbs[word]; ok {
		return v, true
	}
	v, ok := verbs[strings.TrimSuffix(word, "s")]
	return v, ok
}

func set(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}

// fillers carry no meaning for a tool; joiners stand between requests.
var (
	fillers = set(`a an the this that these those my your our its their some any all every everything each it them they
		me i we you us he she one please kindly just now also then and or but so if of for to into in on at from under by
		as with without is are was be been am do does did have has had can could would will shall should may might must
		want need like there here what which who how many much item items entry entries thing things stored existing
		available current currently saved new called named titled equal equals number use using run call invoke execute
		tool thanks thank ok okay yes no not careful quickly quick again more up out about
		whose where when contents content value name pattern matching containing starting beginning ending start end`)
	joiners   = set("and then also plus &")
	greetings = set("hello hi hey greetings bonjour hallo morning afternoon evening howdy moin")
)

// stem makes singular and plural the same word.
func stem(word string) string {
	switch {
	case len(word) > 4 && strings.HasSuffix(word, "ies"):
		return word[:len(word)-3] + "y"
	case len(word) > 3 && strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss"):
		return word[:len(word)-1]
	}
	return word
}

// words takes a name or a text apart: at punctuation, and at the humps of
// camelCase. They come back in lower case.
func words(text string) []string {
	var b strings.Builder
	previous := ' '
	for _, r := range text {
		if unicode.IsUpper(r) && unicode.IsLower(previous) {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		previous = r
	}
	return strings.FieldsFunc(strings.ToLower(b.String()), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

func hasVerb(text string) bool {
	return slices.ContainsFunc(words(text), func(w string) bool {
		_, ok := verbOf(w)
		return ok
	})
}

// smallTalk answers what is no request: greetings, thanks, calls for help.
func smallTalk(text string, tools []*demoTool) string {
	said := words(text)
	switch joined := strings.Join(said, " "); {
	case len(said) == 0:
		return "The message holds no words. " + capabilities(tools)
	case greets(said):
		return "Hello. " + capabilities(tools)
	case len(said) <= 5 && (said[0] == "thanks" || said[0] == "thank"):
		return "You are welcome."
	case joined == "help", joined == "help me", strings.Contains(joined, "what can you do"),
		strings.Contains(joined, "tools do you have"), strings.Contains(joined, "who are you"), joined == "what are you":
		return capabilities(tools)
	}
	return ""
}

// greets: a greeting, with at most a name or words without meaning after it.
func greets(said []string) bool {
	rest := slices.DeleteFunc(slices.Clone(said), func(w string) bool {
		return greetings[w] || fillers[w] || w == "good" || w == "day"
	})
	return slices.ContainsFunc(said[:min(2, len(said))], func(w string) bool { return greetings[w] }) &&
		(len(rest) == 0 || len(said) == 2 && !hasVerb(rest[0]))
}
