package mrkdwn

import (
	"regexp"
	"strings"
)

var (
	token    = regexp.MustCompile(`<([^<>\n]*)>`)
	unescape = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")
)

// Plain returns a message of a person as it was typed, without the mentions of a user, the bot.
func Plain(text, bot string) string {
	text = token.ReplaceAllStringFunc(text, func(t string) string {
		t = t[1 : len(t)-1]
		body, label, labelled := strings.Cut(t, "|")
		switch {
		case bot != "" && body == "@"+bot:
			return ""
		case strings.HasPrefix(body, "@"):
			return body
		case strings.HasPrefix(body, "#"):
			if labelled && label != "" {
				return "#" + label
			}
			return body
		case strings.HasPrefix(body, "!"):
			return "@" + strings.TrimPrefix(body, "!")
		}
		return strings.TrimPrefix(body, "mailto:")
	})
	return strings.TrimSpace(unescape.Replace(text))
}
