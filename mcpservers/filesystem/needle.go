package filesystem

import (
	"bytes"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// needle is a text that every match of a pattern contains. Text without it need not be matched.
// The zero value is contained in every text.
type needle struct {
	text string // in lower case when fold is set
	fold bool   // case is ignored
}

// findNeedle returns the longest needle it finds for a pattern.
func findNeedle(pattern string) needle {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return needle{}
	}
	return longest(parsed)
}

func longest(re *syntax.Regexp) (best needle) {
	switch re.Op {
	case syntax.OpLiteral:
		return ofLiteral(re)
	case syntax.OpCapture, syntax.OpPlus:
		return longest(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return longest(re.Sub[0])
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if found := longest(sub); len(found.text) > len(best.text) {
				best = found
			}
		}
	}
	return best
}

func ofLiteral(re *syntax.Regexp) (best needle) {
	if re.Flags&syntax.FoldCase == 0 {
		if strings.ContainsRune(string(re.Rune), utf8.RuneError) { // also matches invalid UTF-8
			return needle{}
		}
		return needle{text: string(re.Rune)}
	}
	// K, s and many other letters have a third form outside ASCII.
	for _, part := range strings.FieldsFunc(strings.ToLower(string(re.Rune)), func(r rune) bool {
		return r == 'k' || r == 's' || r >= utf8.RuneSelf
	}) {
		if len(part) > len(best.text) {
			best = needle{text: part, fold: true}
		}
	}
	return best
}

// index returns the position of the first needle in text, or -1. If case is ignored it searches
// for both forms of the first byte.
func (n needle) index(text []byte) int {
	if !n.fold {
		return bytes.Index(text, []byte(n.text))
	}
	first := n.text[:1] + strings.ToUpper(n.text[:1])
	for from := 0; ; from++ {
		i := bytes.IndexAny(text[from:], first)
		if from += i; i < 0 || len(text)-from < len(n.text) {
			return -1
		}
		if equalFold(text[from:from+len(n.text)], n.text) {
			return from
		}
	}
}

func equalFold(text []byte, lower string) bool {
	for i, b := range text {
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		if b != lower[i] {
			return false
		}
	}
	return true
}
