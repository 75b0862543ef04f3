package mrkdwn

import (
	"regexp"
	"strings"
)

var (
	strong = regexp.MustCompile(`\*([^\s*](?:[^*\n]*[^\s*])?)\*`)
	item   = regexp.MustCompile(`^(\s*)• `)
	// opened is what Slack would read as a mention or a link of its own.
	opened = regexp.MustCompile(`&lt;([!@#]|[A-Za-z][\w+.-]*:[^:])`)
)

// Markdown returns a text of FromMarkdown as Markdown, which the streams of Slack take. As in mrkdwn,
// nothing in it mentions anybody or leads elsewhere than it says.
func Markdown(text string) string {
	lines := strings.Split(text, "\n")
	inside := false
	for i, line := range lines {
		switch {
		case isFence(line):
			inside = !inside
		case inside:
			lines[i] = literal(line)
		default:
			lines[i] = formatted(line)
		}
	}
	return strings.Join(lines, "\n")
}

// unlinked parts the links of Markdown, and the definitions of their addresses.
var unlinked = strings.NewReplacer("](", "] (", "]:", "] :")

// formatted converts a line outside of blocks of code.
func formatted(line string) string {
	parts := strings.Split(item.ReplaceAllString(line, "$1- "), "`")
	for i, part := range parts {
		if i%2 == 1 && i < len(parts)-1 {
			parts[i] = literal(part)
			continue
		}
		parts[i] = unlinked.Replace(strong.ReplaceAllString(part, "**$1**"))
	}
	return strings.Join(parts, "`")
}

// literal converts code, in which Markdown knows no escaped characters.
func literal(code string) string {
	code = opened.ReplaceAllString(code, "&amp;lt;$1")
	return strings.NewReplacer("&amp;lt;", "&lt;", "&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(code)
}

// Settled returns the beginning of a text of FromMarkdown that stays as it is while the text is still
// being written: whole lines, and of the last one the words before any markup. The text is the last of
// the pieces that Split makes with a limit: what it may yet cut off is not settled.
func Settled(text string, limit int) string {
	if at := strings.LastIndex(text, "\n\n"); len(text) > limit/2 && at > limit/4 {
		return text[:at+2]
	}
	begin := strings.LastIndexByte(text, '\n') + 1
	line := text[begin:]
	switch {
	case isFence(line) && begin > 0: // Split may have closed the code, whose last line goes on
		return text[:strings.LastIndexByte(text[:begin-1], '\n')+1]
	case fences(text[:begin], false):
		return text[:begin]
	}
	if at := strings.IndexAny(line, "*`["); at >= 0 {
		line = line[:at]
	}
	return text[:begin+strings.LastIndexByte(line, ' ')+1]
}
