package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"
)

const (
	maxDepth   = 12  // levels of a schema
	maxSchemas = 400 // schemas in the input of one operation; beyond it parts take anything
)

// kept are the keywords that are copied as they are.
var kept = []string{"type", "title", "description", "format", "enum", "const", "default", "minimum", "maximum", "multipleOf", "minLength", "maxLength",
	"minItems", "maxItems", "uniqueItems", "minContains", "maxContains", "required", "minProperties", "maxProperties", "dependentRequired", "contentEncoding", "contentMediaType", "deprecated"}

// converter makes JSON schemas (2020-12) of schemas of OpenAPI, without references.
type converter struct {
	open []*openapi3.Schema // those that contain the current one
	left int
	// loose counts what was left out so far. A schema in which something is left out takes more than it
	// should, which not, oneOf and some others turn into less.
	loose int
}

// schema converts a schema. binary parts are files if files is set.
func (c *converter) schema(ref *openapi3.SchemaRef, files bool) (any, error) {
	if ref == nil || ref.Value == nil {
		return map[string]any{}, nil
	}
	s := ref.Value
	if s.Always != nil {
		return *s.Always, nil
	}
	c.left--
	if slices.Contains(c.open, s) || len(c.open) >= maxDepth || c.left < 0 {
		c.loose++
		return cutOff(s), nil
	}
	if leavesOut(s) {
		c.loose++
	}
	if files && isBinary(s) {
		return fileSchema(s.Description), nil
	}
	c.open = append(c.open, s)
	defer func() { c.open = c.open[:len(c.open)-1] }()
	out, err := flat(s)
	if err != nil {
		return nil, err
	}
	if err := c.nested(s, out, files); err != nil {
		return nil, err
	}
	if s.Nullable && s.Type != nil && !s.Type.Includes("null") {
		return map[string]any{"anyOf": []any{out, map[string]any{"type": "null"}}}, nil
	}
	return out, nil
}

// cutOff is what is left of a schema that would contain itself, or is too large.
func cutOff(s *openapi3.Schema) map[string]any {
	out := map[string]any{}
	if s.Type != nil && s.Type.Is("object") {
		out["type"] = "object"
		if s.Nullable {
			out["type"] = []any{"object", "null"}
		}
	}
	if text := s.Title + s.Description; text != "" {
		out["description"] = text
	}
	return out
}

// flat copies the keywords that contain no schemas.
func flat(s *openapi3.Schema) (map[string]any, error) {
	own := *s
	own.OneOf, own.AnyOf, own.AllOf, own.Not, own.Items, own.Properties, own.AdditionalProperties = nil, nil, nil, nil, nil, nil, openapi3.AdditionalProperties{}
	own.PrefixItems, own.Contains, own.PatternProperties, own.DependentSchemas, own.PropertyNames, own.Defs = nil, nil, nil, nil, nil, nil
	own.UnevaluatedItems, own.UnevaluatedProperties, own.If, own.Then, own.Else, own.ContentSchema = openapi3.BoolSchema{}, openapi3.BoolSchema{}, nil, nil, nil, nil
	text, err := json.Marshal(&own)
	if err != nil {
		return nil, fmt.Errorf("read a schema: %w", err)
	}
	var all map[string]any
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("read a schema: %w", err)
	}
	maps.DeleteFunc(all, func(name string, _ any) bool { return !slices.Contains(kept, name) })
	bound(all, "minimum", "exclusiveMinimum", s.ExclusiveMin)
	bound(all, "maximum", "exclusiveMaximum", s.ExclusiveMax)
	if s.Pattern != "" && isPattern(s.Pattern) {
		all["pattern"] = s.Pattern
	}
	return all, nil
}

// bound writes an exclusive bound as a number. In 3.0 it is a boolean beside the bound.
func bound(out map[string]any, inclusive, exclusive string, b openapi3.ExclusiveBound) {
	if b.Value != nil {
		out[exclusive] = *b.Value
	}
	if value, ok := out[inclusive]; ok && b.Bool != nil && *b.Bool {
		out[exclusive] = value
		delete(out, inclusive)
	}
}

// nested converts the schemas in a schema.
func (c *converter) nested(s *openapi3.Schema, out map[string]any, files bool) error {
	for _, part := range []struct {
		name string
		ref  *openapi3.SchemaRef
	}{{"not", s.Not}, {"items", s.Items}, {"contains", s.Contains}, {"propertyNames", s.PropertyNames}, {"additionalProperties", s.AdditionalProperties.Schema}} {
		loose := c.loose
		if err := c.set(out, part.name, part.ref, files); err != nil {
			return err
		}
		switch {
		case c.loose == loose:
		case part.name == "not":
			delete(out, "not")
		case part.name == "contains":
			delete(out, "maxContains")
		}
	}
	if has := s.AdditionalProperties.Has; has != nil && s.AdditionalProperties.Schema == nil {
		out["additionalProperties"] = *has
	}
	for _, part := range []struct {
		name string
		refs openapi3.SchemaRefs
	}{{"anyOf", s.AnyOf}, {"allOf", s.AllOf}, {"oneOf", s.OneOf}, {"prefixItems", s.PrefixItems}} {
		var list []any
		loose := c.loose
		for _, ref := range part.refs {
			inner, err := c.schema(ref, files)
			if err != nil {
				return err
			}
			list = append(list, inner)
		}
		switch {
		case list == nil:
		case part.name == "oneOf" && c.loose > loose: // more of them may match than one
			all, _ := out["allOf"].([]any)
			out["allOf"] = append(all, map[string]any{"anyOf": list})
		default:
			out[part.name] = list
		}
	}
	if err := c.patterns(s, out, files); err != nil {
		return err
	}
	return c.properties(s, out, files)
}

func (c *converter) set(out map[string]any, name string, ref *openapi3.SchemaRef, files bool) error {
	if ref == nil {
		return nil
	}
	inner, err := c.schema(ref, files)
	out[name] = inner
	return err
}

// patterns converts patternProperties. If a pattern does not compile, the properties are free, because
// additionalProperties would be about those of the pattern.
func (c *converter) patterns(s *openapi3.Schema, out map[string]any, files bool) error {
	if len(s.PatternProperties) == 0 {
		return nil
	}
	all := map[string]any{}
	for _, pattern := range slices.Sorted(maps.Keys(s.PatternProperties)) {
		if !isPattern(pattern) {
			c.loose++
			delete(out, "additionalProperties")
			continue
		}
		if err := c.set(all, pattern, s.PatternProperties[pattern], files); err != nil {
			return err
		}
	}
	out["patternProperties"] = all
	return nil
}

// leavesOut reports whether a schema has what is not converted.
func leavesOut(s *openapi3.Schema) bool {
	return s.Pattern != "" && !isPattern(s.Pattern) || len(s.DependentSchemas) > 0 || s.If != nil ||
		s.UnevaluatedItems.Has != nil || s.UnevaluatedItems.Schema != nil || s.UnevaluatedProperties.Has != nil || s.UnevaluatedProperties.Schema != nil
}

// isPattern reports whether a regular expression compiles. Those of JavaScript have more than Go's.
func isPattern(text string) bool {
	_, err := regexp.Compile(text)
	return err == nil
}

// properties converts those that a request may have.
func (c *converter) properties(s *openapi3.Schema, out map[string]any, files bool) error {
	if len(s.Properties) == 0 {
		return nil
	}
	properties := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		ref := s.Properties[name]
		if ref.Value != nil && ref.Value.ReadOnly {
			c.loose++
			continue
		}
		if err := c.set(properties, name, ref, files); err != nil {
			return err
		}
	}
	out["properties"] = properties
	required := slices.DeleteFunc(slices.Clone(s.Required), func(name string) bool {
		ref := s.Properties[name]
		return ref != nil && ref.Value != nil && ref.Value.ReadOnly
	})
	delete(out, "required")
	if len(required) > 0 {
		out["required"] = required
	}
	return nil
}

// isBinary reports whether a schema is that of the content of a file.
func isBinary(s *openapi3.Schema) bool {
	return s.Format == "binary" || s.ContentMediaType != "" && s.ContentEncoding == "" && s.Type != nil && s.Type.Is("string")
}

// fileSchema is how the content of a file is given.
func fileSchema(description string) map[string]any {
	text := map[string]any{"type": "string"}
	out := map[string]any{
		"type": "object", "additionalProperties": false, "properties": map[string]any{"filename": text, "text": text, "base64": text},
		"oneOf": []any{map[string]any{"required": []string{"text"}}, map[string]any{"required": []string{"base64"}}},
	}
	if description != "" {
		out["description"] = description
	}
	return out
}
