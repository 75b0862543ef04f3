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
	// maxUnendedTags keeps the time to read a text proportional to its length.
	maxUnendedTags = 16
)

// callsFromJSON parses an object or a list of objects; nil unless all of them are calls.
func (t *textReader) callsFromJSON(text string) []Call {
	list := []json.RawMessage{json.RawMessage(text)}
	if strings.HasPrefix(text, "[") && json.Unmarshal([]byte(text), &list) != nil {
		return nil
	}
	var out []Call
	for _, raw := range list {
		call, ok := t.callFromObject(raw)
		if !ok {
			return nil
		}
		out = append(out, call)
	}
	return out
}

// callFromObject parses one object, either flat or in the nested form of chat completions.
func (t *textReader) callFromObject(raw json.RawMessage) (Call, bool) {
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
	return t.callFromFields(said)
}

// callFromFields reads a call from the fields of an object. Other fields than those of a call
// mean that it is not one: the description of a tool has a name and parameters, too.
func (t *textReader) callFromFields(said map[string]json.RawMessage) (Call, bool) {
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
	return t.newCall(name, bytes.TrimSpace(arguments))
}

// newCall returns a call to a tool if the tool is on offer and the arguments are an object.
func (t *textReader) newCall(name string, arguments json.RawMessage) (Call, bool) {
	own, ok := t.ownName(name)
	if !ok || !IsObject(arguments) || isSchema(arguments) {
		return Call{}, false
	}
	return Call{ID: newCallID(), Name: own, Arguments: arguments}, true
}

// isSchema reports whether arguments are the description of parameters.
func isSchema(arguments json.RawMessage) bool {
	var s struct{ Type, Properties json.RawMessage }
	return json.Unmarshal(arguments, &s) == nil && string(s.Type) == `"object"` && IsObject(s.Properties)
}

// readTag reads <tool_call>. If it holds no call, everything up to its end stays text.
func (t *textReader) readTag(indent int) {
	body := t.rest[indent+len(openTag):]
	inner := strings.TrimLeft(body, " \r\n\t")
	calls, size := t.callsInTag(inner)
	tail := strings.TrimLeft(inner[size:], " \r\n\t")
	if len(calls) == 0 || tail != "" && !strings.HasPrefix(tail, closeTag) {
		t.keep(lengthThrough(t.rest, closeTag))
		return
	}
	t.takeCalls(len(t.rest)-len(strings.TrimPrefix(tail, closeTag)), calls)
}

// callsInTag returns the calls at the beginning of a text, and their length.
func (t *textReader) callsInTag(text string) ([]Call, int) {
	if strings.HasPrefix(text, "<function=") {
		return t.callsFromXML(text)
	}
	if !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") {
		return nil, 0
	}
	size := -1
	if t.unendedTags < maxUnendedTags {
		size = jsonSize(text)
	}
	if size < 0 {
		t.unendedTags++
		return nil, 0
	}
	return t.callsFromJSON(text[:size]), size
}

var (
	openFunction  = regexp.MustCompile(`^\s*<function=([^<>\s]+)>\s*`)
	openParameter = regexp.MustCompile(`^<parameter=([^<>\s]+)>`)
)

const (
	closeFunction  = "</function>"
	closeParameter = "</parameter>"
)

// callsFromXML parses the <function=…> elements at the beginning of a text; it also returns
// their length.
func (t *textReader) callsFromXML(text string) ([]Call, int) {
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
		call, ok := t.newCall(found[1], arguments)
		if !ok {
			return nil, 0
		}
		out, rest = append(out, call), after
	}
}

// parameters reads the parameters up to the function's end; it also returns the rest of the
// text.
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
		values[found[1]] = t.typedValue(function, found[1], value)
		text = strings.TrimLeft(after, " \r\n\t")
	}
	raw, err := json.Marshal(values)
	return raw, text[len(closeFunction):], err == nil
}

// typedValue converts a parameter to the type in the tool's schema: the format has only texts.
func (t *textReader) typedValue(function, parameter, value string) any {
	own, _ := t.ownName(function)
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
