package demo

import (
	"regexp"
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

var actions = map[string]action{
	"list": actionRead, "show": actionRead, "get": actionRead, "read": actionRead, "find": actionRead,
	"add": actionCreate, "create": actionCreate, "make": actionCreate, "store": actionCreate, "write": actionCreate,
	"update": actionChange, "change": actionChange, "set": actionChange,
	"remove": actionRemove, "delete": actionRemove, "drop": actionRemove,
}

func set(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}

var (
	determiners = set("a an the all my our new me every")
	// anyNoun are nouns that match every tool.
	anyNoun   = set("server item entry")
	fillers   = set("with and whose")
	articles  = set("a an the")
	links     = set("is of to = as")
	greetings = set("hello hi hey greetings bonjour hallo")
	polite    = regexp.MustCompile(`(?i)^\s*(?:(?:hello|hi|hey|please|kindly|now|could you|can you|would you|i want to|i would like to|i'd like to)\b[\s,]*)+`)
	thenForm  = regexp.MustCompile(`(?i)\s*(?:[,;.]\s*)?\b(?:and\s+)?then\s+`)
)

// stem maps singular and plural to the same word.
func stem(word string) string {
	switch {
	case len(word) > 4 && strings.HasSuffix(word, "ies"):
		return word[:len(word)-3] + "y"
	case len(word) > 3 && strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss"):
		return word[:len(word)-1]
	}
	return word
}

// words splits a name or a text at punctuation and camelCase boundaries. The words are in
// lower case.
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

func plain(name string) string { return strings.Join(words(name), "") }

// token is a word, a quoted text, or a JSON object or list.
type token struct {
	text, lower string
	key         string // in key=value
	quoted      bool
}

var (
	tokenForm  = regexp.MustCompile(`(?:([\pL_][\pL\pN_-]*)=)?(?:"([^"]*)"|'([^']*)'|([^\s,;]+))`)
	endOfWords = ".!?:"
)

func lex(text string) []token {
	var out []token
	for _, m := range tokenForm.FindAllStringSubmatch(text, -1) {
		word := m[4]
		if bare := strings.TrimRight(word, endOfWords); bare != "" {
			word = bare
		}
		value := m[2] + m[3] + word
		out = append(out, token{text: value, lower: strings.ToLower(value), key: m[1], quoted: m[4] == ""})
	}
	return out
}

// smallTalk answers greetings and calls for help.
func smallTalk(text string, tools []*demoTool) string {
	said := words(text)
	switch joined := strings.Join(said, " "); {
	case len(said) == 0:
		return "The message holds no words. " + capabilities(tools)
	case len(said) <= 2 && greetings[said[0]], slices.Contains([]string{"good morning", "good evening", "good day"}, joined):
		return "Hello. " + capabilities(tools)
	case joined == "help", joined == "what can you do":
		return capabilities(tools)
	}
	return ""
}
