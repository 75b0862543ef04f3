package lint

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
)

var (
	propertyName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)
	unions       = []string{"anyOf", "oneOf", "allOf", "not", "if", "enum", "$ref"}
)

// schema reports what models and their interfaces get wrong in the schema of the arguments.
func (r *report) schema(tool string, raw json.RawMessage) {
	var schema map[string]any
	if json.Unmarshal(raw, &schema) != nil || schema["type"] != "object" {
		r.add(Error, "schema", tool, "the schema of the arguments is not of the type object")
		return
	}
	for _, key := range unions {
		if schema[key] != nil {
			r.add(Error, "schema", tool, "%s at the top of the schema: interfaces of models refuse it", key)
		}
	}
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	for _, name := range required {
		if text, _ := name.(string); properties[text] == nil {
			r.add(Error, "schema", tool, "%q is required and not described", text)
		}
	}
	if len(properties) > 0 && schema["additionalProperties"] != false {
		r.add(Warning, "schema", tool, "additionalProperties is not false: a misspelled argument is accepted, and may widen what the call does")
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		r.property(tool, name, properties[name])
	}
	if depth(schema) > maxDepth {
		r.add(Warning, "schema", tool, "objects are nested %d deep: models get the inner ones wrong", depth(schema))
	}
	if strings.Contains(string(raw), `"$ref":"http`) {
		r.add(Error, "schema", tool, "a $ref leads to another document, which nobody reads")
	}
}

func (r *report) property(tool, name string, value any) {
	if !propertyName.MatchString(name) {
		r.add(Error, "schema", tool, "argument %q: interfaces of models take 1 to 64 letters, digits, _, . and -", name)
	}
	p, ok := value.(map[string]any)
	if !ok || len(p) == 0 {
		r.add(Warning, "schema", tool, "argument %s has no type: a model guesses", name)
		return
	}
	described := p["description"] != nil || p["enum"] != nil || p["$ref"] != nil
	if !described {
		r.add(Warning, "schema", tool, "argument %s has no description", name)
	}
	switch kind := p["type"].(type) {
	case []any:
		r.add(Warning, "schema", tool, "argument %s has several types: some interfaces of models refuse that", name)
	case string:
		if kind == "array" && p["items"] == nil {
			r.add(Error, "schema", tool, "argument %s is a list without items: some interfaces of models refuse that", name)
		}
		if kind == "object" && p["properties"] == nil && p["additionalProperties"] == nil {
			r.add(Warning, "schema", tool, "argument %s is an object of unknown members", name)
		}
		if fallback, has := p["default"]; has && !fits(kind, fallback) {
			r.add(Error, "schema", tool, "argument %s: its default is not of the type %s", name, kind)
		}
	case nil:
		if p["anyOf"] == nil && p["oneOf"] == nil && p["allOf"] == nil && p["enum"] == nil && p["const"] == nil && p["$ref"] == nil {
			r.add(Warning, "schema", tool, "argument %s has no type: a model guesses", name)
		}
	}
}

func fits(kind string, value any) bool {
	switch v := value.(type) {
	case string:
		return kind == "string"
	case bool:
		return kind == "boolean"
	case float64:
		return kind == "number" || kind == "integer" && v == float64(int64(v))
	case []any:
		return kind == "array"
	case map[string]any:
		return kind == "object"
	}
	return true
}

// depth counts objects and lists inside each other.
func depth(schema any) int {
	s, ok := schema.(map[string]any)
	if !ok {
		return 0
	}
	deepest := depth(s["items"])
	if properties, ok := s["properties"].(map[string]any); ok {
		for _, p := range properties {
			deepest = max(deepest, depth(p))
		}
	}
	if s["type"] == "object" || s["type"] == "array" {
		return deepest + 1
	}
	return deepest
}
