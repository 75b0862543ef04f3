package script

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// launched checks the programs that a command starts, such as that of docker exec and find -exec.
func (c *checker) launched(call *syntax.CallExpr, args []*syntax.Word) {
	known := words(args, c.holdsWord)
	started := Launch(known)
	for i, arg := range args {
		if i >= started.From && runsCode(baseName(arg)) {
			c.arguments(call, args[i:])
		}
	}
	if started.Value >= 0 {
		c.fault(call, "a value becomes the program that "+baseName(args[0])+" starts")
	}
	if Code(known) >= 0 {
		c.fault(call, "a shell reads a value as code")
	}
}

// words says what is known about the words of a command. One such as A=$x is an option or a variable.
func words(args []*syntax.Word, value func(*syntax.Word) bool) []Word {
	list := make([]Word, len(args))
	for i, arg := range args {
		list[i] = Word{Text: prefix(arg)}
		if !computed(arg) || strings.Contains(list[i].Text, "=") {
			continue
		}
		list[i] = Word{Value: value(arg)}
		list[i].Fixed = !list[i].Value
	}
	return list
}

// prefix is the text of a word, without its quotes, before the first expansion.
func prefix(w *syntax.Word) string {
	text, _ := beginning(w.Parts)
	return text
}

func computed(w *syntax.Word) bool {
	_, whole := beginning(w.Parts)
	return !whole
}

func beginning(parts []syntax.WordPart) (text string, whole bool) {
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			text += p.Value
		case *syntax.SglQuoted:
			text += p.Value
		case *syntax.DblQuoted:
			more, all := beginning(p.Parts)
			if text += more; !all {
				return text, false
			}
		default:
			return text, false
		}
	}
	return text, true
}
