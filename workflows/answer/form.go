package answer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// form is the fields of a question, a flat JSON Schema, by name. Everything in the schema other
// than types, choices, limits and required fields is left to the server, and so are fields of
// unknown types.
type form struct {
	fields     []field
	dependents map[string][]string // dependentRequired: the other fields that a field requires
}

type field struct {
	name     string
	required bool
	schema   property
}

type property struct {
	Type        string            `json:"type"`
	Title       string            `json:"title"`
	Description string            `json:"description"`
	Enum        []json.RawMessage `json:"enum"`
	OneOf       []choice          `json:"oneOf"`
	AnyOf       []choice          `json:"anyOf"`
	Items       *property         `json:"items"`
	MinLength   *int              `json:"minLength"`
	MaxLength   *int              `json:"maxLength"`
	MinItems    *int              `json:"minItems"`
	MaxItems    *int              `json:"maxItems"`
	Minimum     *json.Number      `json:"minimum"`
	Maximum     *json.Number      `json:"maximum"`
}

type choice struct {
	Const json.RawMessage `json:"const"`
	Title string          `json:"title"`
}

// readForm parses a schema. An invalid one has no fields.
func readForm(schema json.RawMessage) form {
	var s struct {
		Properties json.RawMessage     `json:"properties"`
		Required   []string            `json:"required"`
		With       map[string][]string `json:"dependentRequired"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return form{}
	}
	properties, _ := readObject(s.Properties)
	f := form{dependents: s.With}
	for _, p := range properties {
		one := field{name: p.name, required: slices.Contains(s.Required, p.name)}
		if json.Unmarshal(p.value, &one.schema) != nil {
			one.schema = property{}
		}
		f.fields = append(f.fields, one)
	}
	return f
}

// objectMember is a member of an object.
type objectMember struct {
	name  string
	value json.RawMessage
}

// readObject parses an object in its own order, which a map would lose. Of a repeated name the
// last counts, as in encoding/json.
func readObject(raw json.RawMessage) (out []objectMember, ok bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '{' || !json.Valid(raw) {
		return nil, false
	}
	err := eachMember(raw, func(name string, value json.RawMessage) error {
		out = slices.DeleteFunc(out, func(n objectMember) bool { return n.name == name })
		out = append(out, objectMember{name, value})
		return nil
	})
	return out, err == nil
}

// soleField returns the field for a bare text: the only field, or the only required one.
func (f form) soleField() (field, bool) {
	if len(f.fields) == 1 {
		return f.fields[0], true
	}
	var out []field
	for _, one := range f.fields {
		if one.required {
			out = append(out, one)
		}
	}
	if len(out) != 1 {
		return field{}, false
	}
	return out[0], true
}

// choiceField returns the only field that has a text as one of its choices.
func (f form) choiceField(text string) (field, bool) {
	var out []field
	for _, one := range f.fields {
		if _, ok := one.schema.choice(text); ok {
			out = append(out, one)
		}
	}
	if len(out) != 1 {
		return field{}, false
	}
	return out[0], true
}

func (f form) has(name string) bool {
	return slices.ContainsFunc(f.fields, func(one field) bool { return one.name == name })
}

// needs reports whether any field is required.
func (f form) needs() bool {
	return slices.ContainsFunc(f.fields, func(one field) bool { return one.required })
}

// check reports what is wrong with content.
func (f form) check(content json.RawMessage) error {
	values, ok := readObject(content)
	if !ok {
		return errors.New("the content is not a JSON object")
	}
	for _, v := range values {
		if !f.has(v.name) {
			return fmt.Errorf("there is no field %.60q", v.name)
		}
		for _, other := range f.dependents[v.name] {
			if !slices.ContainsFunc(values, func(v objectMember) bool { return v.name == other }) {
				return fmt.Errorf("%.60q needs %.60q beside it", v.name, other)
			}
		}
	}
	for _, one := range f.fields {
		i := slices.IndexFunc(values, func(v objectMember) bool { return v.name == one.name })
		switch {
		case i < 0 && one.required:
			return fmt.Errorf("%.60q is missing", one.name)
		case i < 0:
		default:
			if err := one.schema.check(values[i].value); err != nil {
				return fmt.Errorf("%.60q %w", one.name, err)
			}
		}
	}
	return nil
}

// choices returns the allowed values; none if they are not listed.
func (p property) choices() []json.RawMessage {
	if len(p.Enum) > 0 {
		return p.Enum
	}
	var out []json.RawMessage
	for _, c := range append(slices.Clone(p.OneOf), p.AnyOf...) {
		if len(c.Const) > 0 {
			out = append(out, c.Const)
		}
	}
	return out
}

func same(a, b json.RawMessage) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

// takes reports whether a text that may reject is a value of the field: one of its choices, or
// a value of a boolean field.
func (f field) takes(text string) bool {
	p := f.schema
	if choices := p.choices(); len(choices) > 0 {
		_, ok := p.choice(text)
		return ok
	}
	return p.Type == "boolean" && booleanWords[strings.ToLower(text)] != ""
}

// booleanWords maps words to the values of a boolean field.
var booleanWords = map[string]string{
	"yes": "true", "y": "true", "true": "true", "ok": "true",
	"no": "false", "n": "false", "false": "false",
}

// choice finds a choice by its value or its title; ignoring case if that is unambiguous.
func (p property) choice(text string) (json.RawMessage, bool) {
	for _, c := range p.choices() {
		if s, ok := scalar(c); ok && s == text {
			return c, true
		}
	}
	for _, c := range append(slices.Clone(p.OneOf), p.AnyOf...) {
		if c.Title == text && len(c.Const) > 0 {
			return c.Const, true
		}
	}
	var found []json.RawMessage
	for _, c := range p.choices() {
		if s, ok := scalar(c); ok && strings.EqualFold(s, text) {
			found = append(found, c)
		}
	}
	if len(found) != 1 {
		return nil, false
	}
	return found[0], true
}

// read converts a text to a value.
func (f field) read(text string) (json.RawMessage, error) {
	p := f.schema
	if choices := p.choices(); len(choices) > 0 && p.Type != "array" {
		if c, ok := p.choice(text); ok {
			return c, nil
		}
		return nil, fmt.Errorf("%.60q must be one of %s", f.name, list(choices))
	}
	switch p.Type {
	case "number", "integer":
		if _, err := number(json.RawMessage(text)); err != nil {
			return nil, fmt.Errorf("%.60q must be a number", f.name)
		}
		return json.RawMessage(text), nil
	case "boolean":
		if word := booleanWords[strings.ToLower(text)]; word != "" {
			return json.RawMessage(word), nil
		}
		return nil, fmt.Errorf("%.60q must be yes or no", f.name)
	case "array":
		if p.Items != nil {
			item, err := field{name: f.name, schema: *p.Items}.read(text)
			return json.RawMessage("[" + string(item) + "]"), err
		}
	}
	return json.Marshal(text)
}
