package llmtest

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

var (
	claudeName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)
	claudeID   = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
)

// claudeRules checks a request and keeps the first error.
type claudeRules struct {
	problem *apiError
	cached  int // number of blocks with cache_control
	ids     map[string]bool
}

type fields = map[string]json.RawMessage

func (c *claudeRules) refuse(format string, args ...any) {
	if c.problem == nil {
		c.problem = invalid("", format, args...)
	}
}

func (anthropic) validate(r *http.Request, body []byte) *apiError {
	media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	c := &claudeRules{ids: map[string]bool{}}
	switch {
	case r.Method != http.MethodPost:
		return &apiError{Status: http.StatusMethodNotAllowed, Message: "Method Not Allowed"}
	case r.Header.Get("X-Api-Key") == "":
		return &apiError{Status: http.StatusUnauthorized, Message: "x-api-key header is required"}
	case r.Header.Get("Anthropic-Version") == "":
		c.refuse("anthropic-version: header is required")
	case r.Header.Get("Anthropic-Version") != "2023-06-01":
		c.refuse("anthropic-version: %q is not a valid version", r.Header.Get("Anthropic-Version"))
	case media != "application/json" || !json.Valid(body):
		c.refuse("The request body is not valid JSON")
	default:
		c.request(body)
	}
	return c.problem
}

func (c *claudeRules) request(body []byte) {
	f := c.object("", body, `model messages max_tokens system tools tool_choice temperature top_p top_k stop_sequences stream
		metadata thinking output_config service_tier container inference_geo cache_control speed diagnostics`)
	var limit float64
	for _, name := range []string{"model", "messages", "max_tokens"} {
		if f[name] == nil {
			c.refuse("%s: Field required", name)
		}
	}
	if c.decode("max_tokens", f["max_tokens"], &limit, "a valid integer"); limit < 1 {
		c.refuse("max_tokens: Input should be greater than or equal to 1")
	}
	var temperature float64
	if c.decode("temperature", f["temperature"], &temperature, "a valid number"); temperature < 0 || temperature > 1 {
		c.refuse("temperature: range: 0..1")
	}
	c.system(f["system"])
	c.choice(f["tool_choice"], c.tools(f["tools"]))
	c.messages(f["messages"])
	c.output(f["output_config"])
	if c.cached > 4 {
		c.refuse("A maximum of 4 blocks with cache_control may be provided. Found %d.", c.cached)
	}
}

// object decodes an object; fields that are not allowed are an error.
func (c *claudeRules) object(at string, raw json.RawMessage, allowed string) fields {
	var f fields
	if json.Unmarshal(raw, &f) != nil || f == nil {
		c.refuse("%s: Input should be a valid dictionary", at)
	}
	for name := range f {
		if !slices.Contains(strings.Fields(allowed), name) {
			c.refuse("%s: Extra inputs are not permitted", within(at, name))
		}
	}
	if f["cache_control"] != nil {
		c.cached++
	}
	return f
}

func within(at, name string) string { return strings.TrimPrefix(at+"."+name, ".") }

// decode decodes a field, if it is present.
func (c *claudeRules) decode(at string, raw json.RawMessage, v any, what string) {
	if raw != nil && json.Unmarshal(raw, v) != nil {
		c.refuse("%s: Input should be %s", at, what)
	}
}

// list decodes a list.
func (c *claudeRules) list(at string, raw json.RawMessage) []json.RawMessage {
	var out []json.RawMessage
	c.decode(at, raw, &out, "a valid list")
	return out
}

func (c *claudeRules) system(raw json.RawMessage) {
	if raw == nil || raw[0] == '"' {
		return
	}
	for i, block := range c.list("system", raw) {
		at := fmt.Sprintf("system.%d", i)
		c.text("system", c.object(at, block, "type text cache_control citations"))
	}
}

// text checks a block of text.
func (c *claudeRules) text(of string, f fields) {
	var text string
	switch c.decode(of+".text", f["text"], &text, "a valid string"); {
	case text == "":
		c.refuse("%s: text content blocks must be non-empty", of)
	case strings.TrimSpace(text) == "":
		c.refuse("%s: text content blocks must contain non-whitespace text", of)
	}
}

// tools returns the names of the tools.
func (c *claudeRules) tools(raw json.RawMessage) map[string]bool {
	names := map[string]bool{}
	for i, tool := range c.list("tools", raw) {
		at := fmt.Sprintf("tools.%d.custom", i)
		f := c.object(at, tool, `name description input_schema type cache_control strict defer_loading allowed_callers
			input_examples eager_input_streaming`)
		var name string
		if c.decode(at+".name", f["name"], &name, "a valid string"); !claudeName.MatchString(name) {
			c.refuse("%s.name: String should match pattern '%s'", at, claudeName)
		}
		if names[name] {
			c.refuse("tools: Tool names must be unique.")
		}
		names[name] = true
		c.schema(at+".input_schema", f["input_schema"])
	}
	return names
}

func (c *claudeRules) schema(at string, raw json.RawMessage) {
	if raw == nil {
		c.refuse("%s: Field required", at)
		return
	}
	var f fields
	if c.decode(at, raw, &f, "a valid dictionary"); string(f["type"]) != `"object"` {
		c.refuse("%s.type: Input should be 'object'", at)
	}
	if f["anyOf"] != nil || f["oneOf"] != nil || f["allOf"] != nil {
		c.refuse("%s: input_schema does not support oneOf, allOf, or anyOf at the top level", at)
	}
}

// output checks the requested format of the reply: all of its objects must be closed.
func (c *claudeRules) output(raw json.RawMessage) {
	if raw == nil {
		return
	}
	f := c.object("output_config", raw, "format effort")
	if f["format"] == nil {
		return
	}
	f = c.object("output_config.format", f["format"], "type schema")
	var schema any
	if c.decode("output_config.format.schema", f["schema"], &schema, "a valid dictionary"); schema == nil {
		c.refuse("output_config.format.schema: Field required")
	}
	c.closed(schema)
}

func (c *claudeRules) closed(v any) {
	switch v := v.(type) {
	case []any:
		for _, s := range v {
			c.closed(s)
		}
	case map[string]any:
		if v["type"] == "object" && v["additionalProperties"] != false {
			c.refuse("output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false")
		}
		for _, s := range v {
			c.closed(s)
		}
	}
}
