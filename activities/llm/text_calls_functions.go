package llm

import (
	"encoding/json"
	"regexp"
	"strings"
)

// callsFromFunctions parses name(a="x", n=3), or several of these in brackets. Arguments
// without a name are rejected, because which parameter they are for would be a guess.
func (t *textReader) callsFromFunctions(text string) []Call {
	f := functionReader{rest: strings.TrimSuffix(text, ";")}
	bracket := f.take("[")
	var out []Call
	for len(out) == 0 || f.take(",") {
		name, arguments, ok := f.call()
		if !ok {
			return nil
		}
		call, ok := t.newCall(name, arguments)
		if !ok {
			return nil
		}
		if out = append(out, call); !bracket {
			break
		}
	}
	if bracket && !f.take("]") || f.rest != "" {
		return nil
	}
	return out
}

// functionReader parses the syntax of function calls.
type functionReader struct{ rest string }

var (
	functionStart = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_.-]*)\(`)
	argumentStart = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_-]*) *= *`)
	plainValue    = regexp.MustCompile(`^(true|false|null|True|False|None|-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?)`)
)

// take reads a word and the spaces around it.
func (f *functionReader) take(word string) bool {
	after, ok := strings.CutPrefix(strings.TrimLeft(f.rest, " "), word)
	if ok {
		f.rest = strings.TrimLeft(after, " ")
	}
	return ok
}

func (f *functionReader) call() (string, json.RawMessage, bool) {
	found := functionStart.FindStringSubmatch(f.rest)
	if found == nil {
		return "", nil, false
	}
	f.rest = f.rest[len(found[0]):]
	values := map[string]json.RawMessage{}
	for !f.take(")") {
		if len(values) > 0 && !f.take(",") || !f.argument(values) {
			return "", nil, false
		}
	}
	raw, err := json.Marshal(values)
	return found[1], raw, err == nil
}

// argument reads a name and its value.
func (f *functionReader) argument(values map[string]json.RawMessage) bool {
	f.rest = strings.TrimLeft(f.rest, " ")
	found := argumentStart.FindStringSubmatch(f.rest)
	if found == nil || values[found[1]] != nil {
		return false
	}
	f.rest = f.rest[len(found[0]):]
	value, ok := f.value()
	values[found[1]] = value
	return ok
}

// value reads a JSON value, a text in single quotes, or a Python literal (True, None …).
func (f *functionReader) value() (json.RawMessage, bool) {
	size := 0
	switch {
	case f.rest == "":
		return nil, false
	case f.rest[0] == '"' || f.rest[0] == '\'':
		return f.quoted(f.rest[:1])
	case f.rest[0] == '{' || f.rest[0] == '[':
		size = max(0, jsonSize(f.rest))
	default:
		size = len(plainValue.FindString(f.rest))
	}
	value := f.rest[:size]
	f.rest = f.rest[size:]
	if word, ok := map[string]string{"True": "true", "False": "false", "None": "null"}[value]; ok {
		value = word
	}
	return json.RawMessage(value), json.Valid([]byte(value))
}

// quoted reads a text between quotes of one kind. Escapes are those of JSON, and an escaped
// quote.
func (f *functionReader) quoted(mark string) (json.RawMessage, bool) {
	var b strings.Builder
	b.WriteByte('"')
	for i := 1; i < len(f.rest); i++ {
		switch c := f.rest[i]; {
		case c == mark[0]:
			f.rest = f.rest[i+1:]
			b.WriteByte('"')
			raw := json.RawMessage(b.String())
			return raw, json.Valid(raw)
		case c == '\\' && i+1 < len(f.rest):
			if i++; f.rest[i] != '\'' {
				b.WriteByte('\\')
			}
			b.WriteByte(f.rest[i])
		case c == '"':
			b.WriteString(`\"`)
		default:
			b.WriteByte(c)
		}
	}
	return nil, false
}
