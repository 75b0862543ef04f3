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

// Visible is a text in which a person sees every character but line breaks: those that
// show nothing, or that change the order of others, stand as JSON escapes (\u202e).
func Visible(s string) string {
	if !strings.ContainsFunc(s, hidden) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if !hidden(r) {
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
	emojiStyle   = '\uFE0F' // asks for the colours of an emoji, and does nothing else
	brailleBlank = '\u2800'
)

// hidden reports whether a character is none that a person sees as it is: controls,
// marks of direction, and what has no width or is blank, but for the space and the
// line break.
func hidden(r rune) bool {
	switch r {
	case ' ', '\n', emojiStyle:
		return false
	case brailleBlank:
		return true
	}
	return !unicode.IsPrint(r) || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// named is a name or a value in a line of ours: as it is where it cannot be taken for
// words of ours, and else as a JSON string.
func named(s string) string {
	if s == "" || s == noValue || strings.ContainsFunc(s, func(r rune) bool { return r == ' ' || r == '\n' || r == '"' || hidden(r) }) {
		return inQuotes(s)
	}
	return s
}

// noValue stands for an argument that is missing.
const noValue = "<nil>"

func inQuotes(s string) string { return Visible(plainJSON(s)) }

// plainJSON is the JSON of a value that can be encoded, in one line, with <, > and & as
// they are.
func plainJSON(v any) string {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSuffix(buf.String(), "\n")
}

// SetApart is what others have written in sentences: in one line as it is, else set apart,
// so that no line of it can be taken for one of ours.
func SetApart(s string) string {
	if s = Visible(s); !strings.Contains(s, "\n") {
		return s
	}
	return quoted(s)
}

// prose is Apart behind a word of ours.
func prose(s string) string {
	if s = SetApart(s); !strings.Contains(s, "\n") {
		return " " + s
	}
	return "\n\n" + s
}

// aside is what others have said in parentheses of ours: as it is where it cannot end
// them, and else as a JSON string.
func aside(s string) string {
	if strings.ContainsAny(s, "()\n\"") || strings.ContainsFunc(s, hidden) {
		return inQuotes(s)
	}
	return s
}

// Shown is the description of an approval as people see it: every character of it is
// visible, and where not all that is approved is in it, the first line says so, and
// where the rest is.
func Shown(in contract.ApprovalInput) string {
	text := Visible(in.Description)
	if !partly(in) {
		return text
	}
	return Incomplete(in.UUID) + "\n\n" + text
}

// Incomplete is the first line of a description that does not have all.
func Incomplete(uuid string) string {
	return "⚠️ NOT ALL OF IT IS SHOWN HERE. All of it: GET /approvals/" + uuid
}

// partly reports whether something that a person decides on is not in history, so that
// a description can have no more than its beginning.
func partly(in contract.ApprovalInput) bool {
	return in.Arguments.Blob != nil || in.Explanation.Blob != nil || in.Origin != nil && in.Origin.Arguments.Blob != nil
}
