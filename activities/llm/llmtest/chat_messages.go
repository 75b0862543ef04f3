package llmtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// validateMessages checks each message, and that every tool call is answered by
// the tool messages directly after it.
func validateMessages(messages []wireMessage) *apiError {
	var open []string // calls that wait for their result
	afterCalls := false
	for i, m := range messages {
		if m.Role == "tool" {
			if !afterCalls || !slices.Contains(open, m.ToolCallID) {
				return invalid(at(i, "role"), "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.")
			}
			open = slices.DeleteFunc(open, func(id string) bool { return id == m.ToolCallID })
		} else if len(open) > 0 {
			return unanswered(i, open)
		}
		ids, e := m.validate(i)
		if e != nil {
			return e
		}
		if m.Role != "tool" {
			open, afterCalls = ids, len(ids) > 0
		}
	}
	if len(open) > 0 {
		return unanswered(len(messages), open)
	}
	return nil
}

func unanswered(i int, open []string) *apiError {
	return invalid(at(i, "role"), "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "+
		"The following tool_call_ids did not have response messages: %s", strings.Join(open, ", "))
}

func at(i int, field string) string { return fmt.Sprintf("messages.[%d].%s", i, field) }

// validate checks one message and returns the IDs of its calls.
func (m wireMessage) validate(i int) ([]string, *apiError) {
	switch m.Role {
	case "system", "developer", "user":
		return nil, m.content(i, true)
	case "tool":
		if m.ToolCallID == "" {
			return nil, invalid(at(i, "tool_call_id"), "Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'.")
		}
		return nil, m.content(i, true)
	case "assistant":
		ids, e := m.calls(i)
		if e != nil {
			return nil, e
		}
		return ids, m.content(i, len(ids) == 0)
	}
	return nil, invalid(at(i, "role"), "Invalid value: '%s'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.", m.Role)
}

func (m wireMessage) content(i int, required bool) *apiError {
	raw := strings.TrimSpace(string(m.Content))
	switch {
	case (raw == "" || raw == "null") && required:
		return invalid(at(i, "content"), "Invalid value for 'content': expected a string, got null.")
	case raw == "" || raw == "null" || raw[0] == '"':
		return nil
	}
	var parts []map[string]json.RawMessage
	if json.Unmarshal(m.Content, &parts) != nil {
		return invalid(at(i, "content"), "Invalid type for '%s': expected one of a string or array of objects.", at(i, "content"))
	}
	if len(parts) == 0 {
		return invalid(at(i, "content"), "Invalid '%s': empty array. Expected an array with minimum length 1.", at(i, "content"))
	}
	for n, p := range parts {
		if e := m.part(p, fmt.Sprintf("%s[%d]", at(i, "content"), n)); e != nil {
			return e
		}
	}
	return nil
}

// calls checks an assistant's tool calls.
func (m wireMessage) calls(i int) ([]string, *apiError) {
	if len(m.ToolCalls) == 0 {
		return nil, nil
	}
	var calls []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string  `json:"name"`
			Arguments *string `json:"arguments"`
		} `json:"function"`
	}
	field := at(i, "tool_calls")
	if json.Unmarshal(m.ToolCalls, &calls) != nil {
		return nil, invalid(field, "Invalid type for '%s': expected an array of objects.", field)
	}
	if len(calls) == 0 {
		return nil, invalid(field, "Invalid '%s': empty array. Expected an array with minimum length 1, but got an empty array instead.", field)
	}
	var ids []string
	for _, c := range calls {
		switch {
		case c.ID == "" || slices.Contains(ids, c.ID):
			return nil, invalid(field, "Invalid '%s': missing or duplicate id '%s'.", field, c.ID)
		case c.Type != "function":
			return nil, invalid(field, "Invalid value: '%s'. Supported values are: 'function' and 'custom'.", c.Type)
		case !functionName.MatchString(c.Function.Name):
			return nil, invalid(field, "Invalid '%s': function name does not match pattern '^[a-zA-Z0-9_-]+$'.", field)
		case c.Function.Arguments == nil:
			return nil, invalid(field, "Missing required parameter: '%s.function.arguments'.", field)
		}
		ids = append(ids, c.ID)
	}
	return ids, nil
}
