package llm

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
)

const (
	openTag  = "<tool_call>"
	closeTag = "</tool_call>"
	// maxMisses keeps the time that a text takes in proportion to its length.
	maxMisses = 16
)

// inJSON are the calls that an object or a list is; none if any of it is not one.
func (t *textReader) inJSON(text string) []Call {
	list := []json.RawMessage{json.RawMessage(text)}
	if strings.HasPrefix(text, "[") && json.Unmarshal([]byte(text), &list) != nil {
		return nil
	}
	var out []Call
	for _, raw := range list {
		call, ok := t.object(raw)
		if !ok {
			return nil
		}
		out = append(out, call)
	}
	return out
}

// object is the call that an object is, also as chat completions have it.
func (t *textReader) object(raw json.RawMessage) (Call, bool) {
	var said map[string]json.RawMessage
	if !IsObject(raw) || json.Unmarshal(raw, &said) != nil {
		return Call{}, false
	}
	if inner := said["function"]; IsObject(inner) && len(said) <= 3 && string(said["type"]) == `"function"` {
		said = nil
		if json.Unmarshal(inner, &said) != nil {
			return Call{}, false
		}
	}
	return t.fields(said)
}

// fields is the call that these fields are. An object that says more than a call
// does is none: the description of a tool has a name and parameters, too.
func (t *textReader) fields(said map[string]json.RawMessage) (Call, bool) {
	arguments, other := said["arguments"], said["parameters"]
	if arguments == nil {
		arguments, other = other, nil
	}
	var name string
	if json.Unmarshal(said["name"], &name) != nil || arguments == nil || other != nil {
		return Call{}, false
	}
	for key := range said {
		if !strings.Contains(" name arguments parameters id type ", " "+key+" ") {
			return Call{}, false
		}
	}
	var text string
	if json.Unmarshal(arguments, &text) == nil && arguments[0] == '"' {
		arguments = json.RawMessage(text)
	}
	return t.made(name, bytes.TrimSpace(arguments))
}

// made is a call to a tool, if that is on offer.
func (t *textReader) made(name string, arguments json.RawMessage) (Call, bool) {
	own, ok := t.own(name)
	if !ok || !IsObject(arguments) || isSchema(arguments) {
		return Call{}, false
	}
	return Call{ID: newCallID(), Name: own, Arguments: arguments}, true
}

// isSchema reports whether parameters describe parameters.
func isSchema(arguments json.RawMessage) bool {
	var s struct{ Type, Properties json.RawMessage }
	return json.Unmarshal(arguments, &s) == nil && string(s.Type) == `"object"` && IsObject(s.Properties)
}

// tagged reads <tool_call>. What is not a call is text up to its end, whatever it
// holds.
func (t *textReader) tagged(indent int) {
	body := t.rest[indent+len(openTag):]
	inner := strings.TrimLeft(body, " \r\n\t")
	calls, size := t.inTag(inner)
	tail := strings.TrimLeft(inner[size:], " \r\n\t")
	if len(calls) == 0 || tail != "" && !strings.HasPrefix(tail, closeTag) {
		t.keep(through(t.rest, closeTag))
		return
	}
	t.cut(len(t.rest)-len(strings.TrimPrefix(tail, closeTag)), calls)
}

// inTag are the calls that a text begins with, and how long they are.
func (t *textReader) inTag(text string) ([]Call, int) {
	if strings.HasPrefix(text, "<function=") {
		return t.inXML(text)
	}
	if !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") {
		return nil, 0
	}
	size := -1
	if t.misses < maxMisses {
		size = jsonSize(text)
	}
	if size < 0 {
		t.misses++
		return nil, 0
	}
	return t.inJSON(text[:size]), size
}

var (
	openFunction  = regexp.MustCompile(`^\s*<function=([^<>\s]+)>\s*`)
	openParameter = regexp.MustCompile(`^<parameter=([^<>\s]+)>`)
)

const (
	closeFunction  = "</function>"
	closeParameter = "</parameter>"
)

// inXML are the functions that a text begins with, and how long they are.
func (t *textReader) inXML(text string) ([]Call, int) {
	var out []Call
	rest := text
	for {
		found := openFunction.FindStringSubmatch(rest)
		if found == nil {
			return out, len(text) - len(rest)
		}
		arguments, after, ok := t.parameters(found[1], rest[len(found[0]):])
		if !ok {
			return nil, 0
		}
		call, ok := t.made(found[1], arguments)
		if !ok {
			return nil, 0
		}
		out, rest = append(out, call), after
	}
}

// parameters are those up to the function's end, and what comes after it.
func (t *textReader) parameters(function, text string) (json.RawMessage, string, bool) {
	values := map[string]any{}
	for !strings.HasPrefix(text, closeFunction) {
		found := openParameter.FindStringSubmatch(text)
		if found == nil {
			return nil, "", false
		}
		value, after, ok := strings.Cut(text[len(found[0]):], closeParameter)
		if _, twice := values[found[1]]; twice || !ok {
			return nil, "", false
		}
		value = strings.TrimSuffix(strings.TrimPrefix(value, "\n"), "\n")
		values[found[1]] = t.typed(function, found[1], value)
		text = strings.TrimLeft(after, " \r\n\t")
	}
	raw, err := json.Marshal(values)
	return raw, text[len(closeFunction):], err == nil
}

// typed is a value as the tool's schema wants it: the format has nothing but
// texts.
func (t *textReader) typed(function, parameter, value string) any {
	own, _ := t.own(function)
	for _, tool := range t.tools {
		if tool.Name != own {
			continue
		}
		var schema struct {
			Properties map[string]struct {
				Type json.RawMessage `json:"type"`
			} `json:"properties"`
		}
		if json.Unmarshal(tool.InputSchema, &schema) == nil && string(schema.Properties[parameter].Type) == `"string"` {
			return value
		}
	}
	if json.Valid([]byte(value)) {
		return json.RawMessage(strings.TrimSpace(value))
	}
	return value
}
