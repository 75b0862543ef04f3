// Package template reads and fills in the placeholders of prompts: {key}, where
// key is made of letters, digits and underscores, and {key.field}, which is a
// field of a value that is JSON. Fields nest ({key.a.b}), and a number is the
// place of an item in a list, from 0.
package template

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var placeholder = regexp.MustCompile(`\{([A-Za-z0-9_]+)((?:\.[A-Za-z0-9_][A-Za-z0-9_-]*)*)\}`)

// Placeholder is a placeholder in a text.
type Placeholder struct {
	Key  string
	Path []string // the fields after the key
}

// String returns the placeholder as written in a text.
func (p Placeholder) String() string {
	return "{" + strings.Join(append([]string{p.Key}, p.Path...), ".") + "}"
}

// Placeholders lists the placeholders in a text, each once, in the order of their first
// appearance.
func Placeholders(text string) []Placeholder {
	var out []Placeholder
	for _, m := range placeholder.FindAllStringSubmatch(text, -1) {
		p := Placeholder{Key: m[1], Path: fields(m[2])}
		if !slices.ContainsFunc(out, func(o Placeholder) bool { return o.Key == p.Key && slices.Equal(o.Path, p.Path) }) {
			out = append(out, p)
		}
	}
	return out
}

// Keys lists the keys of the placeholders in a text, each once, in the order in
// which they first appear.
func Keys(text string) []string {
	var keys []string
	for _, p := range Placeholders(text) {
		if !slices.Contains(keys, p.Key) {
			keys = append(keys, p.Key)
		}
	}
	return keys
}

// Fill replaces the placeholders whose key is known to value. Others are unchanged, because
// braces are common in texts. A field that the value does not have is empty. Placeholders in
// values are not replaced.
func Fill(text string, value func(key string) (v string, known bool)) string {
	return placeholder.ReplaceAllStringFunc(text, func(found string) string {
		key, path, _ := strings.Cut(found[1:len(found)-1], ".")
		v, known := value(key)
		switch {
		case !known:
			return found
		case path != "":
			return field(v, strings.Split(path, "."))
		}
		return v
	})
}

func fields(path string) []string {
	if path == "" {
		return nil
	}
	return strings.Split(path[1:], ".")
}

// field returns a field of a JSON value: a string itself, any other value as JSON, "" if there
// is none.
func field(value string, path []string) string {
	raw := json.RawMessage(value)
	for _, name := range path {
		if raw = inside(raw, name); raw == nil {
			return ""
		}
	}
	var text string
	if json.Unmarshal(raw, &text) == nil && string(bytes.TrimSpace(raw)) != "null" {
		return text
	}
	var out bytes.Buffer
	if json.Compact(&out, raw) != nil {
		return ""
	}
	return out.String()
}

func inside(raw json.RawMessage, name string) json.RawMessage {
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) == nil {
		return object[name]
	}
	var list []json.RawMessage
	if i, err := strconv.Atoi(name); err == nil && i >= 0 && json.Unmarshal(raw, &list) == nil && i < len(list) {
		return list[i]
	}
	return nil
}
