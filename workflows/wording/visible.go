package wording

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"

	"agent-stop-and-go/workflows/contract"
)

// Visible makes every character of a text visible, except line breaks: characters that are
// invisible or change the order of others are replaced by JSON escapes (\u202e).
func Visible(s string) string {
	if !strings.ContainsFunc(s, isHidden) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if !isHidden(r) {
			b.WriteRune(r)
			continue
		}
		writeEscape(&b, r)
	}
	return b.String()
}

func writeEscape(b *strings.Builder, r rune) {
	switch {
	case r == '\t':
		b.WriteString(`\t`)
	case r == '\r':
		b.WriteString(`\r`)
	case r > 0xFFFF:
		high, low := utf16.EncodeRune(r)
		fmt.Fprintf(b, `\u%04x\u%04x`, high, low)
	default:
		fmt.Fprintf(b, `\u%04x`, r)
	}
}

const (
	emojiStyle   = '\uFE0F' // selects the colours of an emoji, and has no other effect
	brailleBlank = '\u2800'
)

// isHidden reports whether a character is invisible: a control, a direction mark, or a
// character without width or ink, except the space and the line break.
func isHidden(r rune) bool {
	switch r {
	case ' ', '\n', emojiStyle:
		return false
	case brailleBlank:
		return true
	}
	return !unicode.IsPrint(r) || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// quotedName returns a name or a value for one of our lines: unchanged if it cannot be mistaken
// for our own words, else as a JSON string.
func quotedName(s string) string {
	if s == "" || s == noValue || strings.ContainsFunc(s, func(r rune) bool { return r == ' ' || r == '\n' || r == '"' || isHidden(r) }) {
		return inQuotes(s)
	}
	return s
}

// noValue replaces a missing argument.
const noValue = "<nil>"

func inQuotes(s string) string { return Visible(plainJSON(s)) }

// plainJSON returns the JSON of a value that can be encoded, in one line, without escaping <, >
// and &.
func plainJSON(v any) string {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSuffix(buf.String(), "\n")
}

// SetApart returns sentences from outside: a single line unchanged, several lines set apart, so
// that no line can be mistaken for one of ours.
func SetApart(s string) string {
	if s = Visible(s); !strings.Contains(s, "\n") {
		return s
	}
	return quoted(s)
}

// prose is SetApart for a text after one of our words.
func prose(s string) string {
	if s = SetApart(s); !strings.Contains(s, "\n") {
		return " " + s
	}
	return "\n\n" + s
}

// inParentheses returns a text from outside for our parentheses: unchanged if it cannot end
// them, else as a JSON string.
func inParentheses(s string) string {
	if strings.ContainsAny(s, "()\n\"") || strings.ContainsFunc(s, isHidden) {
		return inQuotes(s)
	}
	return s
}

// Shown returns the description of an approval for people. Every character is visible. If the
// description is incomplete, the first line says so, and where the rest is.
func Shown(in contract.ApprovalInput) string {
	text := Visible(in.Description)
	if !isIncomplete(in) {
		return text
	}
	return Incomplete(in.UUID) + "\n\n" + text
}

// Incomplete returns the first line of an incomplete description.
func Incomplete(uuid string) string {
	return "⚠️ NOT ALL OF IT IS SHOWN HERE. All of it: GET /approvals/" + uuid
}

// isIncomplete reports whether a part of the decision's subject is not in history, so that the
// description has only its beginning.
func isIncomplete(in contract.ApprovalInput) bool {
	return in.Arguments.Blob != nil || in.Explanation.Blob != nil || in.Origin != nil && in.Origin.Arguments.Blob != nil
}
