package demo

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/workflows/contract"
)

// demoTool is a tool with the verb and the nouns of its name.
type demoTool struct {
	contract.Tool
	words   []string // of the tool's name
	actions []action
	nouns   map[string]bool // stems of the name's other words
	props   []prop          // required ones first
}

// prop is a property of a tool's arguments.
type prop struct {
	name, kind string
	enum       []string
	required   bool
}

type schemaJSON struct {
	Properties map[string]propJSON `json:"properties"`
	Required   []string            `json:"required"`
}

type propJSON struct {
	Type  any        `json:"type"`
	Enum  []any      `json:"enum"`
	AnyOf []propJSON `json:"anyOf"`
}

func newDemoTools(tools []contract.Tool) []*demoTool {
	var out []*demoTool
	for _, tool := range tools {
		out = append(out, newDemoTool(tool))
	}
	return out
}

func newDemoTool(tool contract.Tool) *demoTool {
	t := &demoTool{Tool: tool, words: words(tool.Name), nouns: map[string]bool{}, props: readProps(tool.InputSchema)}
	for _, w := range t.words {
		if a := actions[w]; a != "" {
			t.actions = append(t.actions, a)
		} else {
			t.nouns[stem(w)] = true
		}
	}
	return t
}

func (t *demoTool) property(name string) (prop, bool) {
	i := slices.IndexFunc(t.props, func(p prop) bool { return name != "" && plain(p.name) == plain(name) })
	if i < 0 {
		return prop{}, false
	}
	return t.props[i], true
}

// readProps lists the properties: the required ones in the schema's order, then the others
// by name. An unreadable schema has none.
func readProps(schema json.RawMessage) []prop {
	var s schemaJSON
	if json.Unmarshal(schema, &s) != nil {
		return nil
	}
	var out []prop
	for name, p := range s.Properties {
		out = append(out, prop{
			name: name, kind: kindOfProp(p), enum: texts(p.Enum), required: slices.Contains(s.Required, name),
		})
	}
	slices.SortFunc(out, func(a, b prop) int {
		if a.required != b.required {
			return map[bool]int{true: -1, false: 1}[a.required]
		}
		if n := slices.Index(s.Required, a.name) - slices.Index(s.Required, b.name); n != 0 {
			return n
		}
		return strings.Compare(a.name, b.name)
	})
	return out
}

func kindOfProp(p propJSON) string {
	types := []any{p.Type}
	if list, ok := p.Type.([]any); ok {
		types = list
	}
	for _, t := range types {
		if s, ok := t.(string); ok && s != "null" {
			return s
		}
	}
	for _, q := range p.AnyOf {
		if k := kindOfProp(q); k != "string" || q.Type == "string" {
			return k
		}
	}
	return "string"
}

func texts(values []any) []string {
	var out []string
	for _, v := range values {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

var decimal = regexp.MustCompile(`^-?(0|[1-9]\d*)(\.\d+)?$`)

// value converts a text to the property's type.
func (p prop) value(text string) (json.RawMessage, error) {
	switch p.kind {
	case "integer":
		if whole := strings.TrimSuffix(text, ".0"); decimal.MatchString(whole) && !strings.Contains(whole, ".") {
			return json.RawMessage(whole), nil
		}
		return nil, fmt.Errorf("%s must be an integer, not %q", p.name, llm.Cut(text, 40))
	case "number":
		if decimal.MatchString(text) {
			return json.RawMessage(text), nil
		}
		return nil, fmt.Errorf("%s must be a number, not %q", p.name, llm.Cut(text, 40))
	case "boolean":
		return boolean(p.name, text)
	case "array", "object":
		return composite(p, text)
	}
	return p.text(text)
}

func (p prop) text(text string) (json.RawMessage, error) {
	if len(p.enum) == 0 {
		return quoteJSON(text), nil
	}
	for _, e := range p.enum {
		if strings.EqualFold(e, text) {
			return quoteJSON(e), nil
		}
	}
	return nil, fmt.Errorf("%s must be one of %s, not %q", p.name, strings.Join(p.enum, ", "), llm.Cut(text, 40))
}

func boolean(name, text string) (json.RawMessage, error) {
	switch strings.ToLower(text) {
	case "true", "yes", "on":
		return json.RawMessage("true"), nil
	case "false", "no", "off":
		return json.RawMessage("false"), nil
	}
	if b, err := strconv.ParseBool(text); err == nil {
		return json.RawMessage(strconv.FormatBool(b)), nil
	}
	return nil, fmt.Errorf("%s must be true or false, not %q", name, llm.Cut(text, 40))
}

func composite(p prop, text string) (json.RawMessage, error) {
	first := map[string]byte{"array": '[', "object": '{'}[p.kind]
	if text != "" && text[0] == first && json.Valid([]byte(text)) {
		return json.RawMessage(text), nil
	}
	if p.kind == "array" {
		return json.RawMessage("[" + string(quoteJSON(text)) + "]"), nil
	}
	return nil, fmt.Errorf("%s must be a JSON object, not %q", p.name, llm.Cut(text, 40))
}

func quoteJSON(text string) json.RawMessage {
	raw, err := json.Marshal(text)
	if err != nil { // a string can always be encoded
		panic(err)
	}
	return raw
}
