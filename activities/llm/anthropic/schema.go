package anthropic

import (
	"bytes"
	"encoding/json"
	"slices"

	"agent-stop-and-go/activities/llm"
)

// closedSchema is a schema in the subset that output_config.format takes
// (platform.claude.com/docs/en/build-with-claude/structured-outputs): objects are
// closed, and the limits of numbers, texts and lists are left out, which the
// prompt tells the model all the same. It is nil for a schema that the subset
// would make another one of: with objects of any kind, or that contains itself.
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

// maxSchemas bounds how many schemas are written in all.
const maxSchemas = 2000

type schemaCloser struct {
	root map[string]any
	left int // schemas that may still be written
	// followed are the references that were looked at; false while that goes on.
	followed map[string]bool
	failed   bool
}

// keptKeywords go out as they are, beside those that hold schemas.
var keptKeywords = []string{"type", "title", "description", "enum", "const", "required", "default"}

// keptFormats are the formats of texts that the API knows.
var keptFormats = []any{"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"}

func (c *schemaCloser) schema(v any) map[string]any {
	in, ok := v.(map[string]any)
	if c.left--; !ok || c.left < 0 || c.failed {
		c.failed = true // true or false, or too much
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
	if !says(out) {
		c.failed = true // anything
	}
	return out
}

// says reports whether a schema says what it is a schema of.
func says(s map[string]any) bool {
	return slices.ContainsFunc([]string{"type", "enum", "const", "anyOf"}, func(key string) bool { return s[key] != nil })
}

// follow looks for references that lead back to themselves, or out of the schema.
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

// alternatives writes anyOf for oneOf too, which the API does not know. What
// objects have beside their alternatives would not fit in when they are closed.
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
	if !ok && !isOfType(in, "object") {
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
	if !ok && !isOfType(in, "array") {
		return
	}
	if out["items"] = c.schema(items); in["minItems"] == json.Number("0") || in["minItems"] == json.Number("1") {
		out["minItems"] = in["minItems"]
	}
}

// isOfType reports whether a schema's type is, or may be, this one.
func isOfType(s map[string]any, name string) bool {
	types, _ := s["type"].([]any)
	return s["type"] == name || slices.Contains(types, any(name))
}
