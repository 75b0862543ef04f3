// Package title names conversations in lists.
package title

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"agent-stop-and-go/workflows/contract"
)

const maxRunes = 80

// SignalRename gives a conversation a title. People type it, too.
const SignalRename = "rename"

// Rename is the argument of SignalRename.
type Rename struct {
	// RequestID and Fingerprint are as in contract.MessageSignal.
	RequestID   string `json:"request_id,omitempty"`
	Fingerprint string `json:"fingerprint,omitempty"`
	Title       string `json:"title"`
	// By, OnBehalfOf, Identity and Proof are as in contract.DecideSignal.
	By         string            `json:"by,omitempty"`
	OnBehalfOf string            `json:"on_behalf_of,omitempty"`
	Identity   contract.Identity `json:"identity,omitzero"`
	Proof      string            `json:"proof,omitempty"`
}

// Check returns what is wrong with a title that somebody gives, or nil: it is one line of at most
// 80 characters, all of them visible or spaces.
func Check(text string) error {
	switch n := utf8.RuneCountInString(text); {
	case strings.TrimSpace(text) == "":
		return errors.New("a title has at least one visible character")
	case !utf8.ValidString(text):
		return errors.New("the title is not valid UTF-8")
	case n > maxRunes:
		return fmt.Errorf("the title has %d characters; at most %d are shown in lists", n, maxRunes)
	}
	for _, r := range text {
		if r != ' ' && separates(r) {
			return fmt.Errorf("the title contains U+%04X; it must be one line of visible characters", r)
		}
	}
	return nil
}

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
