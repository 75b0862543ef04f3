package markdown

import "strings"

// plain returns a text of others as part of a line: without line breaks, and with every character
// that Markdown or HTML could read as more than itself escaped.
func plain(text string) string {
	var b strings.Builder
	for _, r := range strings.Join(strings.Fields(text), " ") {
		if strings.ContainsRune("\\`*_{}[]<>()#+-.!|~&:@", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// code returns a text of others as code within a line, or "" for none.
func code(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if text == "" {
		return ""
	}
	ticks := strings.Repeat("`", longestTicks(text)+1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return ticks + text + ticks
}

// fence returns a text as a block of code that nothing in it ends.
func fence(language, text string) string {
	if text == "" {
		return ""
	}
	ticks := strings.Repeat("`", max(3, longestTicks(text)+1))
	return ticks + language + "\n" + strings.TrimRight(text, "\n") + "\n" + ticks
}

// quote returns a text as a quotation: every line of it begins with the mark.
func quote(text string) string {
	if text == "" {
		return ""
	}
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimRight(text, "\n"))
	return "> " + strings.ReplaceAll(text, "\n", "\n> ")
}

func longestTicks(text string) (longest int) {
	run := 0
	for _, r := range text {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}
