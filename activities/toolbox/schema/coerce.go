package schema

import (
	"encoding/json"
	"math/big"
	"regexp"
	"slices"
	"strings"
)

// A schema may refer to itself: maxDepth limits how deep arguments are coerced, the other
// constants how much of the schema is visited. Each value adds visits, so that long lists are
// coerced like short ones.
const (
	maxDepth      = 32
	maxVisits     = 10_000
	visitsOfValue = 32
)

var (
	numberText  = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,2})?$`)
	integerText = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)
)

// Coerce converts scalars to the type that the schema declares: numbers and booleans to
// strings, numeric strings to numbers, "true" and "false" to booleans. A value that has a
// declared type already, or would lose something, is unchanged, and so is the rest of a schema
// that is too large.
func (s *Schema) Coerce(value map[string]any) any { return s.walk().fit(s.root, value, 0) }

// schemaWalk visits a schema with a limited number of steps.
type schemaWalk struct {
	*Schema
	left int
}

func (s *Schema) walk() *schemaWalk { return &schemaWalk{Schema: s, left: maxVisits} }

func (s *schemaWalk) fit(node, value any, depth int) any {
	object := s.resolve(node)
	if object == nil || depth > maxDepth || s.left <= 0 {
		return value
	}
	s.left += visitsOfValue
	switch v := value.(type) {
	case map[string]any:
		return s.fitObject(object, v, depth)
	case []any:
		return s.fitArray(object, v, depth)
	}
	types := s.types(object, depth)
	if s.left <= 0 {
		return value
	}
	return convert(value, types)
}

func (s *schemaWalk) fitObject(object, value map[string]any, depth int) any {
	out := map[string]any{}
	for name, v := range value {
		out[name] = v
		if property, ok := s.child(object, "properties", name, depth); ok {
			out[name] = s.fit(property, v, depth+1)
		} else if rest, ok := object["additionalProperties"]; ok {
			out[name] = s.fit(rest, v, depth+1)
		}
	}
	return out
}

func (s *schemaWalk) fitArray(object map[string]any, value []any, depth int) any {
	items, ok := s.child(object, "items", "", depth)
	if !ok {
		return value
	}
	out := make([]any, len(value))
	for i, v := range value {
		out[i] = s.fit(items, v, depth+1)
	}
	return out
}

// child finds the schema of a property or of items, also in a branch of the schema if only one
// has it.
func (s *schemaWalk) child(object map[string]any, keyword, name string, depth int) (any, bool) {
	found := object[keyword]
	if properties, ok := found.(map[string]any); ok && keyword == "properties" {
		found = properties[name]
	}
	if found != nil {
		return found, true
	}
	var only any
	for _, branch := range s.branches(object, depth) {
		if f, ok := s.child(branch, keyword, name, depth+1); ok {
			if only != nil {
				return nil, false
			}
			only = f
		}
	}
	return only, only != nil && s.left > 0
}

func (s *schemaWalk) branches(object map[string]any, depth int) []map[string]any {
	var out []map[string]any
	if depth > maxDepth {
		return nil
	}
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := object[keyword].([]any)
		for _, node := range list {
			if s.left--; s.left <= 0 {
				return nil
			}
			if branch := s.resolve(node); branch != nil {
				out = append(out, branch)
			}
		}
	}
	return out
}

// types returns the allowed types of a value, directly or in a branch; none means any.
func (s *schemaWalk) types(object map[string]any, depth int) []string {
	switch t := object["type"].(type) {
	case string:
		return []string{t}
	case []any:
		var out []string
		for _, one := range t {
			if name, ok := one.(string); ok {
				out = append(out, name)
			}
		}
		return out
	}
	var out []string
	for _, branch := range s.branches(object, depth) {
		out = append(out, s.types(branch, depth+1)...)
	}
	return out
}

func convert(value any, types []string) any {
	want := func(name string) bool { return slices.Contains(types, name) }
	switch v := value.(type) {
	case json.Number:
		if want("string") && !want("number") && !want("integer") {
			return decimal(v.String())
		}
	case bool:
		if want("string") && !want("boolean") {
			return map[bool]string{true: "true", false: "false"}[v]
		}
	case string:
		if !want("string") {
			return convertText(v, want)
		}
	}
	return value
}

func convertText(text string, want func(string) bool) any {
	trimmed := strings.TrimSpace(text)
	switch {
	case want("boolean") && (trimmed == "true" || trimmed == "false"):
		return trimmed == "true"
	case want("number") && numberText.MatchString(trimmed):
		return json.Number(trimmed)
	case want("integer") && numberText.MatchString(trimmed):
		if plain := decimal(trimmed); integerText.MatchString(plain) {
			return json.Number(plain)
		}
	}
	return text
}

// decimal formats a JSON number without exponent, and an integer without a fraction. Huge
// exponents are kept.
func decimal(number string) string {
	if integerText.MatchString(number) || !numberText.MatchString(number) {
		return number
	}
	r, ok := new(big.Rat).SetString(number)
	if !ok {
		return number
	}
	if r.IsInt() {
		return r.Num().String()
	}
	digits, _ := r.FloatPrec()
	return r.FloatString(digits)
}
