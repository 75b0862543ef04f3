package llm

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode"
)

// token is a word, a quoted text, a key with its value, or the border between
// two requests.
type token struct {
	text   string
	lower  string
	key    string // of key=value and key: value
	quoted bool
	border bool
	used   bool
}

var (
	assignment = regexp.MustCompile(`^([\pL_][\pL\pN_-]*)\s*=\s*`)
	labelled   = regexp.MustCompile(`^([\pL_][\pL\pN_-]*):\s*`)
	closing    = map[rune]string{'"': `"`, '\'': `'`, '`': "`", '“': "”", '‘': "’", '«': "»"}
)

// lexer cuts a message into tokens. A word with a colon is a key only when known
// says so, because colons are ordinary punctuation too.
type lexer struct {
	rest  string
	known func(key string) bool
	out   []token
}

func lex(text string, known func(string) bool) []token {
	l := lexer{rest: text, known: known}
	for l.space(); l.rest != ""; l.space() {
		l.next()
	}
	return l.out
}

// space drops blanks; an end of line is a border.
func (l *lexer) space() {
	trimmed := strings.TrimLeftFunc(l.rest, unicode.IsSpace)
	if strings.Contains(l.rest[:len(l.rest)-len(trimmed)], "\n") {
		l.out = append(l.out, token{text: ",", border: true})
	}
	l.rest = trimmed
}

func (l *lexer) next() {
	if strings.ContainsAny(l.rest[:1], ",;.!?") && !pathStart(l.rest) {
		l.out = append(l.out, token{text: l.rest[:1], border: true})
		l.rest = l.rest[1:]
		return
	}
	key := l.key()
	value, quoted := l.value()
	t := token{text: value, lower: strings.ToLower(value), key: key, quoted: quoted}
	if t.text != "" || quoted {
		l.out = append(l.out, t)
	}
}

// pathStart tells ".gitignore" and "./a" from the end of a sentence.
func pathStart(s string) bool {
	return s[0] == '.' && len(s) > 1 && !unicode.IsSpace(rune(s[1]))
}

func (l *lexer) key() string {
	if m := assignment.FindStringSubmatch(l.rest); m != nil {
		l.rest = l.rest[len(m[0]):]
		return m[1]
	}
	if m := labelled.FindStringSubmatch(l.rest); m != nil && l.known(m[1]) {
		l.rest = l.rest[len(m[0]):]
		return m[1]
	}
	return ""
}

// value reads a quoted text, a JSON object or list, or a word.
func (l *lexer) value() (string, bool) {
	for open, end := range closing {
		inner, ok := strings.CutPrefix(l.rest, string(open))
		if !ok {
			continue
		}
		if i := strings.Index(inner, end); i >= 0 {
			l.rest = inner[i+len(end):]
			return inner[:i], true
		}
	}
	if strings.HasPrefix(l.rest, "{") || strings.HasPrefix(l.rest, "[") {
		dec := json.NewDecoder(strings.NewReader(l.rest))
		var raw json.RawMessage
		if dec.Decode(&raw) == nil {
			l.rest = l.rest[dec.InputOffset():]
			return string(raw), true
		}
	}
	return l.word(), false
}

func (l *lexer) word() string {
	end := strings.IndexFunc(l.rest, func(r rune) bool { return unicode.IsSpace(r) || r == ',' || r == ';' })
	if end < 0 {
		end = len(l.rest)
	}
	word := l.rest[:end]
	bare := strings.TrimRight(word, ".!?:")
	if bare == "" {
		bare = word
	}
	l.rest = l.rest[len(bare):]
	l.rest = strings.TrimPrefix(l.rest, ":")
	return bare
}
