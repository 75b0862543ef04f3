package anthropic

import (
	"bytes"
	"encoding/json"
	"slices"

	"agent-stop-and-go/activities/llm"
)

// closedSchema returns a schema in the subset that output_config.format accepts
// (platform.claude.com/docs/en/build-with-claude/structured-outputs): objects are closed, and
// limits of numbers, texts and lists are omitted; the prompt still states them. It is nil for
// a schema whose meaning the subset would change: one with open objects, or a recursive one.
func closedSchema(schema json.RawMessage) json.RawMessage {
	dec := json.NewDecoder(bytes.NewReader(schema))
	dec.UseNumber()
	var root map[string]any
	if dec.Decode(&root) != nil || root["type"] != "object" {
		return nil
	}
	c := &schemaCloser{root: root, left: maxSchemas, followed: map[string]bool{}}
	closed := c.schema(root)
	raw, err := json.Marshal(closed)
	if err != nil || c.failed {
		return nil
	}
	return raw
}

// maxSchemas bounds the number of subschemas written.
const maxSchemas = 2000

type schemaCloser struct {
	root map[string]any
	left int // subschemas that may still be written
	// followed has the references that were followed; the value is false while one is
	// being followed.
	followed map[string]bool
	failed   bool
}

// keptKeywords are copied unchanged. Keywords that hold schemas are handled separately.
var keptKeywords = []string{"type", "title", "description", "enum", "const", "required", "default"}

// keptFormats are the string formats that the API supports.
var keptFormats = []any{"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"}

func (c *schemaCloser) schema(v any) map[string]any {
	in, ok := v.(map[string]any)
	if c.left--; !ok || c.left < 0 || c.failed {
		c.failed = true // a boolean schema, or too many subschemas
		return nil
	}
	if ref, ok := in["$ref"].(string); ok {
		c.follow(ref)
		out := map[string]any{"$ref": ref}
		c.definitions(in, out)
		return out
	}
	out := map[string]any{}
	for _, key := range keptKeywords {
		if value, ok := in[key]; ok {
			out[key] = value
		}
	}
	if slices.Contains(keptFormats, in["format"]) {
		out["format"] = in["format"]
	}
	c.definitions(in, out)
	c.alternatives(in, out)
	c.object(in, out)
	c.list(in, out)
	if !constrains(out) {
		c.failed = true // an unconstrained schema
	}
	return out
}

// constrains reports whether a schema says anything about its values.
func constrains(s map[string]any) bool {
	return slices.ContainsFunc([]string{"type", "enum", "const", "anyOf"}, func(key string) bool { return s[key] != nil })
}

// follow fails on references that are recursive or leave the schema.
func (c *schemaCloser) follow(ref string) {
	done, seen := c.followed[ref]
	if c.failed = c.failed || seen && !done; seen || c.failed {
		return
	}
	c.followed[ref] = false
	c.schema(llm.LookUp(c.root, ref))
	c.followed[ref] = true
}

func (c *schemaCloser) definitions(in, out map[string]any) {
	for _, key := range []string{"$defs", "definitions"} {
		if all, ok := in[key].(map[string]any); ok {
			out[key] = c.named(all)
		}
	}
}

func (c *schemaCloser) named(all map[string]any) map[string]any {
	out := map[string]any{}
	for name, s := range all {
		out[name] = c.schema(s)
	}
	return out
}

// alternatives writes anyOf, also for oneOf, which the API does not support. An object with
// properties beside its alternatives fails: closed alternatives would exclude them.
func (c *schemaCloser) alternatives(in, out map[string]any) {
	list, ok := in["anyOf"].([]any)
	if one, both := in["oneOf"].([]any); both {
		c.failed, list, ok = c.failed || ok, one, true
	}
	c.failed = c.failed || in["allOf"] != nil || ok && in["properties"] != nil
	var schemas []any
	for _, s := range list {
		schemas = append(schemas, c.schema(s))
	}
	if ok {
		out["anyOf"] = schemas
	}
}

func (c *schemaCloser) object(in, out map[string]any) {
	properties, ok := in["properties"].(map[string]any)
	if !ok && !mayBeOfType(in, "object") {
		return
	}
	more, said := in["additionalProperties"]
	if in["patternProperties"] != nil || said && more != false || len(properties) == 0 && !said {
		c.failed = true
		return
	}
	out["type"], out["properties"], out["additionalProperties"] = "object", c.named(properties), false
	if in["type"] != nil {
		out["type"] = in["type"]
	}
}

func (c *schemaCloser) list(in, out map[string]any) {
	items, ok := in["items"]
	if !ok && !mayBeOfType(in, "array") {
		return
	}
	if out["items"] = c.schema(items); in["minItems"] == json.Number("0") || in["minItems"] == json.Number("1") {
		out["minItems"] = in["minItems"]
	}
}

// mayBeOfType reports whether a schema's type is, or may be, this one.
func mayBeOfType(s map[string]any, name string) bool {
	types, _ := s["type"].([]any)
	return s["type"] == name || slices.Contains(types, any(name))
}
