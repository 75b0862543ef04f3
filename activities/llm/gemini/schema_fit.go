package gemini

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// anyKind lists the keywords for every type, keywordsOf those for one type. Gemini refuses a request for a keyword beside the wrong type:
// "properties: only allowed for OBJECT type".
var (
	anyKind    = []string{"type", "title", "description", "nullable", "default"}
	keywordsOf = map[string][]string{
		"object":  {"properties", "required", "minProperties", "maxProperties"},
		"array":   {"items", "minItems", "maxItems"},
		"string":  {"enum", "format", "minLength", "maxLength", "pattern"},
		"number":  {"format", "minimum", "maximum"},
		"integer": {"format", "minimum", "maximum"},
		"boolean": {},
		"null":    {},
	}
	formatsOf = map[string][]string{
		"string": {"date-time", "enum"}, "number": {"float", "double"}, "integer": {"int32", "int64"},
	}
)

// plainParameters returns the schema of a tool's parameters, which must be an object with
// properties. It is nil for a tool without parameters.
func plainParameters(schema json.RawMessage) (json.RawMessage, error) {
	if schema = bytes.TrimSpace(schema); len(schema) == 0 || string(schema) == "null" {
		return nil, nil
	}
	plain, err := plainSchema(schema)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	dec := json.NewDecoder(bytes.NewReader(plain))
	dec.UseNumber()
	if err := dec.Decode(&fields); err != nil {
		return nil, err
	}
	flatten(fields)
	if properties, _ := fields["properties"].(map[string]any); len(properties) == 0 {
		return nil, nil
	}
	fields["type"] = "object"
	delete(fields, "nullable")
	return json.Marshal(fields)
}

// flatten replaces a choice of objects by one object with the properties of all.
func flatten(s map[string]any) {
	choice, _ := s["anyOf"].([]any)
	delete(s, "anyOf")
	for _, v := range choice {
		if one, ok := v.(map[string]any); ok && one["properties"] != nil {
			mergeInto(s, map[string]any{"properties": one["properties"]})
		}
	}
}

// fit removes keywords that Gemini refuses, and adds those that it requires.
func fit(s map[string]any) {
	kind, _ := s["type"].(string)
	if kind = strings.ToLower(kind); keywordsOf[kind] == nil {
		kind = kindByKeywords(s)
	}
	s["type"] = kind
	properties, _ := s["properties"].(map[string]any)
	if s["anyOf"] != nil && (kind == "" || kind == "object" && len(properties) == 0) {
		delete(s, "type")
		keep(s, append(slices.Clone(anyKind), "anyOf"))
		return
	}
	if kind == "" {
		kind, s["type"] = "string", "string" // any value is allowed, but a type is required
	}
	keep(s, slices.Concat(keywordsOf[kind], anyKind))
	if format, _ := s["format"].(string); !slices.Contains(formatsOf[kind], format) {
		delete(s, "format")
	}
	if list, ok := s["enum"].([]any); ok && len(list) == 0 {
		delete(s, "enum")
	}
	if kind == "array" && s["items"] == nil {
		s["items"] = map[string]any{"type": "string"}
	}
	fitRequired(s, properties)
}

// kindByKeywords derives the type of a schema that names none from its keywords, or returns
// "".
func kindByKeywords(s map[string]any) string {
	switch {
	case s["properties"] != nil, s["required"] != nil && s["anyOf"] == nil:
		return "object"
	case s["items"] != nil:
		return "array"
	}
	return ""
}

// fitRequired removes required properties that are not described.
func fitRequired(s, properties map[string]any) {
	list, _ := s["required"].([]any)
	var kept []any
	for _, v := range list {
		name, ok := v.(string)
		if _, described := properties[name]; ok && described && !slices.Contains(kept, v) {
			kept = append(kept, name)
		}
	}
	if s["required"] = kept; len(kept) == 0 {
		delete(s, "required")
	}
}

func keep(s map[string]any, keywords []string) {
	maps.DeleteFunc(s, func(key string, _ any) bool { return !slices.Contains(keywords, key) })
}

// alternatives splits a schema of several types into one schema for each type, with its
// keywords.
func alternatives(s map[string]any, types []any) []any {
	var out []any
	for _, t := range types {
		one := map[string]any{"type": t}
		if kind, ok := t.(string); ok {
			for _, key := range keywordsOf[kind] {
				if value, ok := s[key]; ok {
					one[key] = value
				}
			}
		}
		fit(one)
		out = append(out, one)
	}
	return out
}
