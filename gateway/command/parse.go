package command

import (
	"strings"
	"unicode"
)

const (
	mark    = "!" // begins a command
	mention = "@" // begins a message for another model
)

// parsed is a text of a person: a command with its argument, or a message.
type parsed struct {
	command, argument string
	message           string
	model             string // what follows @ in front of the message
}

// parse tells a command from a message. A text that begins with the mark twice is a message that
// begins with it once.
func parse(text string) parsed {
	trimmed := strings.TrimSpace(text)
	switch {
	case strings.HasPrefix(trimmed, mark+mark):
		return parsed{message: strings.TrimPrefix(trimmed, mark)}
	case isCommand(trimmed):
		name, argument := cutWord(strings.TrimPrefix(trimmed, mark))
		return parsed{command: strings.ToLower(name), argument: argument}
	case strings.HasPrefix(trimmed, mention):
		if name, message := cutWord(strings.TrimPrefix(trimmed, mention)); name != "" {
			return parsed{model: name, message: message}
		}
	}
	return parsed{message: text}
}

// cutWord returns the first word of a text, and what follows it.
func cutWord(s string) (word, rest string) {
	end := strings.IndexFunc(s, unicode.IsSpace)
	if end < 0 {
		return s, ""
	}
	return s[:end], strings.TrimSpace(s[end:])
}
