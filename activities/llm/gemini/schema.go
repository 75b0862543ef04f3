package gemini

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"agent-stop-and-go/activities/llm"
)

// Bounds of the depth of references and of the number of subschemas written. There a
// recursive schema ends in an unconstrained one.
const (
	maxSchemaDepth = 8
	maxSchemaNodes = 2000
)

// plainKeywords are the keywords that Gemini accepts: a subset of OpenAPI 3.0
// (ai.google.dev/api/caching#Schema). Others are omitted. They are only hints to the model:
// arguments are checked against the whole schema.
var plainKeywords = []string{
	"type", "format", "title", "description", "nullable", "enum", "default", "properties", "required", "items", "anyOf",
	"minItems", "maxItems", "minProperties", "maxProperties", "minLength", "maxLength", "pattern", "minimum", "maximum",
}

// plainSchema writes a schema in that subset: references are replaced by their targets, a
// type that may be null becomes nullable, oneOf becomes anyOf, const becomes an enum of one
// value, and the parts of allOf are merged.
func plainSchema(schema json.RawMessage) (json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(schema))
	dec.UseNumber()
	var root map[string]any
	if err := dec.Decode(&root); err != nil {
		return nil, fmt.Errorf("decode the schema: %w", err)
	}
	p := &schemaWriter{root: root, left: maxSchemaNodes}
	return json.Marshal(p.schema(root, 0))
}

type schemaWriter struct {
	root map[string]any
	left int // subschemas that may still be written
}

func (p *schemaWriter) schema(v any, depth int) map[string]any {
	s, ok := v.(map[string]any)
	if !ok || depth > maxSchemaDepth || p.left <= 0 { // a boolean schema, or a bound is reached
		return anyOfKind(s)
	}
	out := map[string]any{}
	all := p.resolve(s, depth)
	for _, key := range plainKeywords { // in a fixed order, so that the same subschemas are omitted every time
		if value, ok := all[key]; ok {
			out[key] = p.keyword(key, value, depth)
		}
	}
	p.nullable(out)
	fit(out)
	return out
}

// anyOfKind returns the schema that is written where a bound is reached.
func anyOfKind(s map[string]any) map[string]any {
	switch s["type"] {
	case "string", "number", "integer", "boolean":
		return map[string]any{"type": s["type"]}
	}
	return map[string]any{"type": "object"}
}

// resolve returns a schema with its reference and its allOf resolved, and with Gemini's own
// keywords.
func (p *schemaWriter) resolve(s map[string]any, depth int) map[string]any {
	all := map[string]any{}
	if p.left--; p.left < 0 {
		return anyOfKind(s)
	}
	if ref, ok := s["$ref"].(string); ok && depth <= maxSchemaDepth {
		if target, ok := llm.LookUp(p.root, ref).(map[string]any); ok {
			mergeInto(all, p.resolve(target, depth+1))
		}
	}
	if parts, ok := s["allOf"].([]any); ok {
		for _, part := range parts {
			if m, ok := part.(map[string]any); ok && depth <= maxSchemaDepth {
				mergeInto(all, p.resolve(m, depth+1))
			}
		}
	}
	mergeInto(all, s)
	if c, ok := all["const"]; ok {
		all["enum"] = []any{c}
	}
	if one, ok := all["oneOf"]; ok && all["anyOf"] == nil {
		all["anyOf"] = one
	}
	return all
}

// mergeInto adds keywords. The properties and required of both are combined.
func mergeInto(all, more map[string]any) {
	for key, value := range more {
		switch have := all[key].(type) {
		case map[string]any:
			if m, ok := value.(map[string]any); ok && key == "properties" {
				both := map[string]any{}
				mergeInto(both, have)
				mergeInto(both, m)
				value = both
			}
		case []any:
			if list, ok := value.([]any); ok && key == "required" {
				value = append(slices.Clone(have), list...)
			}
		}
		all[key] = value
	}
}

func (p *schemaWriter) keyword(key string, value any, depth int) any {
	switch key {
	case "items":
		return p.schema(value, depth+1)
	case "properties":
		out := map[string]any{}
		if m, ok := value.(map[string]any); ok {
			for _, name := range slices.Sorted(maps.Keys(m)) {
				out[name] = p.schema(m[name], depth+1)
			}
		}
		return out
	case "anyOf":
		var out []any
		if list, ok := value.([]any); ok {
			for _, s := range list {
				out = append(out, p.schema(s, depth+1))
			}
		}
		return out
	case "enum":
		return enumTexts(value)
	}
	return value
}

// enumTexts returns the values of an enum as texts: Gemini accepts nothing else.
func enumTexts(value any) any {
	list, ok := value.([]any)
	if !ok {
		return value
	}
	out := []any{}
	for _, v := range list {
		if text := fmt.Sprint(v); v != nil && text != "" {
			out = append(out, text)
		}
	}
	return out
}

// nullable replaces a list of types by one type, and the values of an enum by texts.
func (p *schemaWriter) nullable(s map[string]any) {
	if list, ok := s["type"].([]any); ok {
		var types []any
		for _, t := range list {
			if t == "null" {
				s["nullable"] = true
			} else {
				types = append(types, t)
			}
		}
		delete(s, "type")
		switch {
		case len(types) == 1:
			s["type"] = types[0]
		case len(types) > 1 && s["anyOf"] == nil:
			s["anyOf"] = alternatives(s, types)
		}
	}
	if _, ok := s["enum"]; ok {
		s["type"] = "string"
	}
	p.nullableAlternatives(s)
}

// nullableAlternatives removes null from the alternatives. A single alternative replaces the
// choice.
func (p *schemaWriter) nullableAlternatives(s map[string]any) {
	list, ok := s["anyOf"].([]any)
	if !ok {
		return
	}
	kept := slices.DeleteFunc(slices.Clone(list), func(v any) bool {
		m, ok := v.(map[string]any)
		return ok && m["type"] == "null"
	})
	if len(kept) == len(list) || len(kept) == 0 {
		return
	}
	s["nullable"] = true
	s["anyOf"] = kept
	if one, ok := kept[0].(map[string]any); ok && len(kept) == 1 {
		delete(s, "anyOf")
		mergeInto(s, one)
	}
}
