package llmtest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"agent-stop-and-go/workflows/contract/modality"
)

// messages checks each message, and that every call has its result at the
// beginning of the next.
func (c *claudeRules) messages(raw json.RawMessage) {
	list := c.list("messages", raw)
	if len(list) == 0 {
		c.refuse("messages: at least one message is required")
	}
	var open []string // calls that wait for their result
	role := ""
	for i, message := range list {
		at := fmt.Sprintf("messages.%d", i)
		f := c.object(at, message, "role content")
		c.decode(at+".role", f["role"], &role, "'user' or 'assistant'")
		switch {
		case role != "user" && role != "assistant":
			c.refuse("messages: Unexpected role %q. The Messages API accepts a top-level `system` parameter, not %q as an input message role.", role, role)
		case i == 0 && role != "user":
			c.refuse(`messages: first message must use the "user" role`)
		}
		open = c.content(i, role, f["content"], open)
	}
	if role == "assistant" {
		c.refuse("This model does not support assistant message prefill. The conversation must end with a user message.")
	}
}

// content checks a message's content, given the open calls before it, and returns its calls.
func (c *claudeRules) content(i int, role string, raw json.RawMessage, open []string) []string {
	at := fmt.Sprintf("messages.%d", i)
	if len(raw) > 0 && raw[0] == '"' {
		raw = json.RawMessage(`[{"type":"text","text":` + string(raw) + `}]`)
	}
	blocks := c.list(at+".content", raw)
	if len(blocks) == 0 {
		c.refuse("%s: all messages must have non-empty content except for the optional final assistant message", at)
	}
	var calls []string
	waiting, late := slices.Clone(open), false
	for n, block := range blocks {
		var kind struct{ Type string }
		place := fmt.Sprintf("%s.content.%d", at, n)
		c.decode(place, block, &kind, "a valid dictionary")
		switch {
		case kind.Type == "tool_result" && role == "user":
			id := c.result(place, block)
			if !slices.Contains(waiting, id) {
				c.refuse("%s: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", place, id)
			} else if !late {
				open = slices.DeleteFunc(open, func(o string) bool { return o == id })
			}
		case kind.Type == "tool_use" && role == "assistant":
			calls, late = append(calls, c.call(place, block)), true
		default:
			c.block(place, role, kind.Type, block)
			late = true
		}
	}
	if len(open) > 0 {
		c.refuse("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. Each `tool_use` block must have a corresponding `tool_result` block in the next message.", i-1, strings.Join(open, ", "))
	}
	return calls
}

func (c *claudeRules) block(at, role, kind string, raw json.RawMessage) {
	switch {
	case kind == "text":
		c.text("messages", c.object(at+".text", raw, "type text cache_control citations"))
	case kind == "image" && role == "user":
		c.image(at+".image", raw)
	case kind == "document" && role == "user":
		c.document(at+".document", raw)
	case kind == "thinking" && role == "assistant":
		c.thinking(at+".thinking", raw)
	case kind == "redacted_thinking" && role == "assistant":
		if f := c.object(at+".redacted_thinking", raw, "type data"); f["data"] == nil {
			c.refuse("%s.redacted_thinking.data: Field required", at)
		}
	default:
		c.refuse("%s: Input tag '%s' found using 'type' does not match any of the expected tags", at, kind)
	}
}

// thinking checks that thoughts come back unchanged.
func (c *claudeRules) thinking(at string, raw json.RawMessage) {
	f := c.object(at, raw, "type thinking signature")
	var thoughts, signed string
	c.decode(at+".thinking", f["thinking"], &thoughts, "a valid string")
	if c.decode(at+".signature", f["signature"], &signed, "a valid string"); signed == "" {
		c.refuse("%s.signature: Field required", at)
	}
	if signed != signature(thoughts) {
		c.refuse("%s: Invalid `signature` in `thinking` block", strings.TrimSuffix(at, ".thinking"))
	}
}

func (c *claudeRules) call(at string, raw json.RawMessage) string {
	f := c.object(at+".tool_use", raw, "type id name input cache_control caller toolset_name")
	var id, name string
	if c.decode(at+".tool_use.id", f["id"], &id, "a valid string"); !claudeID.MatchString(id) {
		c.refuse("%s.tool_use.id: String should match pattern '%s'", at, claudeID)
	}
	if c.decode(at+".tool_use.name", f["name"], &name, "a valid string"); !claudeName.MatchString(name) {
		c.refuse("%s.tool_use.name: String should match pattern '%s'", at, claudeName)
	}
	if len(f["input"]) == 0 || f["input"][0] != '{' {
		c.refuse("%s.tool_use.input: Input should be a valid dictionary", at)
	}
	if c.ids[id] {
		c.refuse("messages: `tool_use` ids must be unique")
	}
	c.ids[id] = true
	return id
}

func (c *claudeRules) result(at string, raw json.RawMessage) string {
	f := c.object(at+".tool_result", raw, "type tool_use_id content is_error cache_control toolset_name")
	var id string
	var failed bool
	c.decode(at+".tool_result.tool_use_id", f["tool_use_id"], &id, "a valid string")
	c.decode(at+".tool_result.is_error", f["is_error"], &failed, "a valid boolean")
	if len(f["content"]) == 0 || f["content"][0] == '"' {
		return id
	}
	for n, block := range c.list(at+".tool_result.content", f["content"]) {
		var kind struct{ Type string }
		place := fmt.Sprintf("%s.tool_result.content.%d", at, n)
		if c.decode(place, block, &kind, "a valid dictionary"); failed && kind.Type != "text" {
			c.refuse("%s.tool_result: all content must be type \"text\" if `is_error` is true", at)
		}
		c.block(place, "user", kind.Type, block)
	}
	return id
}

// document checks that a document is a PDF in base64.
func (c *claudeRules) document(at string, raw json.RawMessage) {
	f := c.object(at, raw, "type source cache_control citations context title")
	var kind, data, media, title string
	if f["title"] != nil {
		if c.decode(at+".title", f["title"], &title, "a valid string"); title == "" || utf8.RuneCountInString(title) > 500 {
			c.refuse("%s.title: String should have at least 1 and at most 500 characters", at)
		}
	}
	at += ".source.base64"
	source := c.object(at, f["source"], "type media_type data")
	c.decode(at, source["type"], &kind, "a valid string")
	c.decode(at+".data", source["data"], &data, "a valid string")
	c.decode(at+".media_type", source["media_type"], &media, "a valid string")
	switch {
	case kind != "base64":
		c.refuse("%s.type: Input should be 'base64'", at)
	case media != modality.PDF:
		c.refuse("%s.media_type: Input should be 'application/pdf'", at)
	case !isPDF(data):
		c.refuse("%s.data: The PDF specified was not valid.", at)
	}
}

// image checks that the data is an image of the stated type.
func (c *claudeRules) image(at string, raw json.RawMessage) {
	f := c.object(at, raw, "type source cache_control transformations")
	at += ".source.base64"
	var kind, data, media string
	source := c.object(at, f["source"], "type media_type data")
	c.decode(at, source["type"], &kind, "a valid string")
	c.decode(at+".data", source["data"], &data, "a valid string")
	c.decode(at+".media_type", source["media_type"], &media, "a valid string")
	decoded, err := base64.StdEncoding.Strict().DecodeString(data)
	switch {
	case kind != "base64":
		c.refuse("%s.type: Input should be 'base64'", at)
	case !slices.Contains(imageTypes, media):
		c.refuse("%s.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'", at)
	case err != nil || len(decoded) == 0:
		c.refuse("%s.data: invalid base64 data", at)
	case http.DetectContentType(decoded) != media:
		c.refuse("%s.data: Image does not match the provided media type %s", at, media)
	}
}
