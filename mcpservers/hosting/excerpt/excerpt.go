// Package excerpt shortens texts for results of tools.
package excerpt

import (
	"strings"
	"unicode/utf8"
)

// Bytes returns at most limit bytes of text as valid UTF-8, and reports whether something is missing. It
// ends at the end of a character; bytes that are no UTF-8 are replaced by U+FFFD, which does not count.
func Bytes(text []byte, limit int) (string, bool) {
	cut := len(text) > limit
	if cut {
		text = text[:limit]
		for n := 1; n <= utf8.UTFMax && n <= len(text); n++ {
			if start := len(text) - n; utf8.RuneStart(text[start]) {
				if !utf8.FullRune(text[start:]) {
					text = text[:start]
				}
				break
			}
		}
	}
	return strings.ToValidUTF8(string(text), "\uFFFD"), cut
}

// Line returns text in one line with single spaces, and at most limit characters of it, with … for the rest.
func Line(text string, limit int) string {
	line := strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	if utf8.RuneCountInString(line) <= limit {
		return line
	}
	return strings.TrimSpace(string([]rune(line)[:limit])) + "…"
}
