package mrkdwn

import (
	"strings"
	"unicode/utf8"
)

const fence = "```"

// Split returns a text in mrkdwn as pieces of at most limit bytes, which must be at least 100. It
// cuts between paragraphs, else between lines, else between words. Code that is cut is closed in one piece
// and opened again in the next. The pieces before the last do not change while a text grows.
func Split(text string, limit int) []string {
	var out []string
	open := false
	for {
		room := limit
		prefix := ""
		if open {
			prefix = fence + "\n"
		}
		room -= len(prefix)
		if len(text) <= room {
			piece := prefix + text
			if fences(text, open) && len(piece)+len(fence)+1 <= limit {
				piece = strings.TrimRight(piece, "\n") + "\n" + fence
			}
			return append(out, piece)
		}
		at := cut(text[:room-len(fence)-1])
		piece := strings.TrimRight(text[:at], "\n ")
		open = fences(text[:at], open)
		if open {
			piece += "\n" + fence
		}
		out = append(out, prefix+piece)
		if text = strings.TrimPrefix(text[at:], "\n"); !open {
			text = strings.TrimLeft(text, "\n")
		}
	}
}

// cut returns where to cut a text that is too long: in its last three quarters if it can be. An
// escaped character is not cut.
func cut(text string) int {
	least := len(text) / 4
	for _, mark := range []string{"\n\n", "\n", " "} {
		if at := strings.LastIndex(text, mark); at > least {
			return at
		}
	}
	at := len(text)
	if amp := strings.LastIndexByte(text, '&'); amp >= 0 && len(text)-amp < len("&amp;") && !strings.Contains(text[amp:], ";") {
		at = amp
	}
	for tail, size := utf8.DecodeLastRuneInString(text[:at]); tail == utf8.RuneError && size == 1 && at > 1; tail, size = utf8.DecodeLastRuneInString(text[:at]) {
		at--
	}
	return at
}

// fences reports whether code is open after a text.
func fences(text string, open bool) bool {
	for line := range strings.Lines(text) {
		if isFence(line) {
			open = !open
		}
	}
	return open
}
