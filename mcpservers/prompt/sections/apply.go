package sections

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Operation is a change of the text of a section.
type Operation string

// The operations.
const (
	Append    Operation = "append"    // the content, after an empty line
	Prepend   Operation = "prepend"   // the content, and an empty line
	Replace   Operation = "replace"   // the first occurrence of the target, by the content
	Delete    Operation = "delete"    // all lines that contain the target
	Overwrite Operation = "overwrite" // the whole text, by the content
)

// Operations lists the operations.
func Operations() []Operation { return []Operation{Append, Prepend, Replace, Delete, Overwrite} }

// Apply returns the text after an operation. The error says why there is none.
func Apply(o Operation, text, content, target string) (string, error) {
	if !slices.Contains(Operations(), o) {
		return "", fmt.Errorf("the operation %q is none of append, prepend, replace, delete and overwrite", o)
	}
	if o == Delete && content != "" {
		return "", errors.New("delete takes a target, and no content")
	}
	if o != Delete && strings.TrimSpace(content) == "" {
		return "", fmt.Errorf("%s needs a content", o)
	}
	needsTarget := o == Delete || o == Replace
	if needsTarget && target == "" {
		return "", fmt.Errorf("%s needs a target", o)
	}
	if !needsTarget && target != "" {
		return "", fmt.Errorf("%s takes no target", o)
	}
	if needsTarget && !strings.Contains(text, target) {
		return "", fmt.Errorf("the target is not in the section: %.200q", target)
	}
	after := apply(o, text, content, target)
	return after, CheckText(after)
}

func apply(o Operation, text, content, target string) string {
	switch o {
	case Append:
		return joined(text, content)
	case Prepend:
		return joined(content, text)
	case Replace:
		return strings.Replace(text, target, content, 1)
	case Delete:
		return without(text, target)
	}
	return content
}

// joined puts an empty line between two texts.
func joined(a, b string) string {
	switch {
	case a == "" || b == "":
		return a + b
	case strings.HasSuffix(a, "\n"):
		return a + "\n" + b
	}
	return a + "\n\n" + b
}

// without removes the lines that contain target, also one of several lines.
func without(text, target string) string {
	lines := strings.SplitAfter(text, "\n")
	if !strings.Contains(target, "\n") {
		return strings.Join(slices.DeleteFunc(lines, func(l string) bool { return strings.Contains(l, target) }), "")
	}
	for i := strings.Index(text, target); i >= 0; i = strings.Index(text, target) {
		from, to := strings.LastIndexByte(text[:i], '\n')+1, len(text)
		if end := i + len(target); text[end-1] == '\n' {
			to = end
		} else if n := strings.IndexByte(text[end:], '\n'); n >= 0 {
			to = end + n + 1
		}
		text = text[:from] + text[to:]
	}
	return text
}

// CheckText returns why a text cannot be that of a section: it would be read as something else.
func CheckText(text string) error {
	switch {
	case len(text) > MaxBytes:
		return fmt.Errorf("the section would have more than %d bytes", MaxBytes)
	case slices.ContainsFunc(strings.Split(text, "\n"), isMarker):
		return fmt.Errorf("a section must not contain the line %s", Marker)
	case strings.ContainsAny(text, "\x00\r"):
		return errors.New("a section must not contain NUL or carriage return characters")
	}
	return nil
}

// Page returns the text of the section's file with another text, which may begin like a title.
func (s Section) Page(text string) string {
	title := s.Title
	if title == "" && strings.HasPrefix(text, titleMark) {
		title = "## " + s.Name
	}
	if title == "" {
		return text
	}
	return title + "\n" + text
}
