package statement

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Syntax says how the words of a dialect are written.
type Syntax struct {
	Backslash    bool // \' in a string is no end of it
	DoubleString bool // "…" is a string, not a name
	Backtick     bool // `…` is a name
	Bracket      bool // […] is a name
	Hash         bool // # begins a comment
	Dollar       bool // $tag$…$tag$ is a string
	Nested       bool // comments nest
	// MySQLComments is for MySQL and MariaDB: -- begins a comment only before white space, a control
	// character or the end, and a server runs what is in /*! … */, /*M! … */ and /*+ … */.
	MySQLComments bool
}

// Normalize returns the text without comments, with single spaces, with words in lower case, and
// with ? for strings and numbers. It is for rules and people that compare statements: a text
// that the parser does not understand has one, too. Beginning with a comment that a server may run,
// the text stays as it is but for spaces and case: whether quotes in it count depends on the server.
func (s Syntax) Normalize(text string) string {
	var out strings.Builder
	for text != "" {
		kind, size := s.next(text)
		word := text[:size]
		text = text[size:]
		switch kind {
		case space:
			if out.Len() > 0 && text != "" {
				out.WriteByte(' ')
			}
		case literal:
			out.WriteByte('?')
		case plain:
			out.WriteString(strings.ToLower(word))
		case quoted:
			out.WriteString(word)
		}
	}
	normalized := strings.Join(strings.Fields(out.String()), " ")
	return strings.TrimRight(normalized, "; ")
}

type kind int

const (
	space kind = iota // white space and comments
	literal
	plain
	quoted
)

// next returns the kind and the length of the first token.
func (s Syntax) next(text string) (kind, int) {
	switch c := text[0]; {
	case s.dashes(text), c == '#' && s.Hash:
		return space, upTo(text, "\n", 0)
	case s.MySQLComments && isRun(text):
		return plain, len(text)
	case strings.HasPrefix(text, "/*"):
		return space, s.comment(text)
	case c == '\'', c == '"' && s.DoubleString:
		return literal, s.quotedBy(text, c, s.Backslash)
	case (c == 'e' || c == 'E') && s.Dollar && strings.HasPrefix(text[1:], "'"):
		return literal, 1 + s.quotedBy(text[1:], '\'', true)
	case c == '"', c == '`' && s.Backtick:
		return quoted, s.quotedBy(text, c, false)
	case c == '[' && s.Bracket:
		return quoted, upTo(text, "]", 1)
	case c == '$' && s.Dollar && dollarTag(text) != "":
		tag := dollarTag(text)
		return literal, upTo(text, tag, len(tag))
	case c >= '0' && c <= '9':
		return literal, run(text, func(r rune) bool { return r == '.' || isWord(r) })
	}
	r, size := utf8.DecodeRuneInString(text)
	switch {
	case unicode.IsSpace(r):
		return space, run(text, unicode.IsSpace)
	case isWord(r) || r == '$' || r == ':' || r == '@':
		return plain, size + run(text[size:], func(r rune) bool { return isWord(r) || r == '$' })
	}
	return plain, size
}

// dashes reports whether the text begins with a comment of dashes.
func (s Syntax) dashes(text string) bool {
	rest, ok := strings.CutPrefix(text, "--")
	return ok && (!s.MySQLComments || rest == "" || rest[0] <= ' ' || rest[0] == 0x7f)
}

// isRun reports whether the text begins with a comment that MySQL, MariaDB or TiDB may run.
func isRun(text string) bool {
	rest, ok := strings.CutPrefix(text, "/*")
	return ok && slices.ContainsFunc([]string{"!", "M!", "T!", "+"}, func(mark string) bool { return strings.HasPrefix(rest, mark) })
}

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

func run(text string, in func(rune) bool) int {
	if end := strings.IndexFunc(text, func(r rune) bool { return !in(r) }); end >= 0 {
		return end
	}
	return len(text)
}

// upTo returns the length up to and with the end mark, which is looked for after from.
func upTo(text, mark string, from int) int {
	if i := strings.Index(text[from:], mark); i >= 0 {
		return from + i + len(mark)
	}
	return len(text)
}

func (s Syntax) comment(text string) int {
	if !s.Nested {
		return upTo(text, "*/", 2)
	}
	depth, i := 1, 2
	for ; i < len(text) && depth > 0; i++ {
		switch {
		case strings.HasPrefix(text[i:], "/*"):
			depth, i = depth+1, i+1
		case strings.HasPrefix(text[i:], "*/"):
			depth, i = depth-1, i+1
		}
	}
	return min(i, len(text))
}

// quotedBy returns the length of a quoted text, in which a doubled quote is no end.
func (s Syntax) quotedBy(text string, quote byte, backslash bool) int {
	for i := 1; i < len(text); i++ {
		switch {
		case backslash && text[i] == '\\':
			i++
		case text[i] == quote && i+1 < len(text) && text[i+1] == quote:
			i++
		case text[i] == quote:
			return i + 1
		}
	}
	return len(text)
}

// dollarTag returns the $tag$ at the beginning, or "".
func dollarTag(text string) string {
	end := 1 + run(text[1:], isWord)
	if end < len(text) && text[end] == '$' && (end == 1 || text[1] < '0' || text[1] > '9') {
		return text[:end+1]
	}
	return ""
}
