// Package title names conversations in lists.
package title

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"agent-stop-and-go/workflows/contract"
)

const maxRunes = 80

// Of returns the title of a conversation by its first message: the first words, in one line and
// without characters that change how a line is shown.
func Of(first contract.MessageSignal) string {
	text := first.Text.Inline
	if first.Text.Blob != nil {
		text = first.Text.Blob.Preview
	}
	if first.Preface > len(text) { // the text at hand ends within the preface
		return ""
	}
	words := strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text[first.Preface:], ""), separates), " ")
	short := firstWords(words)
	if first.Text.Blob != nil && short == words && words != "" {
		short += "…"
	}
	return short
}

// separates reports whether a rune separates words or is invisible: control characters, and
// formats such as marks that change the direction of a line.
func separates(r rune) bool {
	return unicode.IsSpace(r) || unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) && r != zeroWidthJoiner
}

// zeroWidthJoiner joins emoji, or letters of some scripts.
const zeroWidthJoiner = '\u200d'

// firstWords returns the beginning of a line, cut between words, or inside a first word that is
// too long.
func firstWords(line string) string {
	if utf8.RuneCountInString(line) <= maxRunes {
		return line
	}
	runes := []rune(line)
	cut := string(runes[:maxRunes])
	if i := strings.LastIndexByte(cut, ' '); i > 0 && runes[maxRunes] != ' ' {
		cut = cut[:i]
	}
	return strings.TrimSpace(cut) + "…"
}
