package screen

import (
	"strings"
	"unicode"

	"agent-stop-and-go/workflows/wording"
)

// Safe returns a text without characters that control a terminal or reorder others: they become
// JSON escapes. Line breaks, tabs and what joins letters and emoji stay.
func Safe(s string) string {
	if !strings.ContainsFunc(s, controls) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if controls(r) {
			b.WriteString(wording.Visible(string(r)))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
)

// controls reports whether a character does something to a terminal.
func controls(r rune) bool {
	switch r {
	case '\n', '\t', zeroWidthNonJoiner, zeroWidthJoiner:
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) || r == unicode.ReplacementChar
}

// Line returns a text in one line of at most n characters.
func Line(s string, n int) string {
	s = strings.Join(strings.Fields(Safe(s)), " ")
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// Exact returns a text that is decided on: every character is visible.
func Exact(s string) string { return wording.Visible(s) }
