package mrkdwn

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// control are the three characters that Slack reads as markup of its own: mentions, links and
// dates begin with <.
var control = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// Escape returns a text in which Slack finds no mention, no link and no special word.
func Escape(text string) string { return control.Replace(text) }

// Cut shortens a text in mrkdwn to a number of characters, which must be at least 10. An escaped
// character is not cut.
func Cut(text string, limit int) string {
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	text = string([]rune(text)[:limit-1])
	if amp := strings.LastIndexByte(text, '&'); amp >= 0 && !strings.Contains(text[amp:], ";") && len(text)-amp < len("&amp;") {
		text = text[:amp]
	}
	return text + "…"
}

// Code returns a text as code in one line.
func Code(text string) string {
	return "`" + Escape(strings.NewReplacer("`", "'", "\n", " ", "\r", " ").Replace(text)) + "`"
}

var (
	heading = regexp.MustCompile(`^#{1,6}\s+(.+?)\s*#*$`)
	bold    = regexp.MustCompile(`\*\*([^*\n]+)\*\*`)
	link    = regexp.MustCompile(`!?\[([^\]\n]*)\]\((https?://[^\s)]+)\)`)
	bullet  = regexp.MustCompile(`^(\s*)[*+-]\s+`)
)

// FromMarkdown returns Markdown of a model as mrkdwn: headings and bold words, bullets, code. A
// link is shown with its address, so that no text pretends to lead elsewhere.
func FromMarkdown(text string) string {
	lines := strings.Split(text, "\n")
	inside := false
	for i, line := range lines {
		switch fence := isFence(line); {
		case fence:
			inside = !inside
			lines[i] = "```"
		case inside:
			lines[i] = Escape(line)
		default:
			lines[i] = inline(line)
		}
	}
	return strings.Join(lines, "\n")
}

func isFence(line string) bool { return strings.HasPrefix(strings.TrimLeft(line, " "), "```") }

func inline(line string) string {
	line = link.ReplaceAllString(line, "$1 ($2)")
	if m := heading.FindStringSubmatch(line); m != nil {
		return "*" + Escape(strings.ReplaceAll(m[1], "*", "")) + "*"
	}
	line = bullet.ReplaceAllString(line, "$1• ")
	return Escape(bold.ReplaceAllString(line, "*$1*"))
}
