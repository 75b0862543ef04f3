package llmtest

import (
	"encoding/json"
	"fmt"
	"slices"
)

// namedTool is a function in a list or in a tool_choice of chat completions.
type namedTool struct {
	Type     string `json:"type"`
	Function struct {
		Name string `json:"name"`
	} `json:"function"`
}

// validateChoice checks tool_choice and parallel_tool_calls, which are allowed with tools only.
func (r wireRequest) validateChoice() *apiError {
	var tools []namedTool
	_ = json.Unmarshal(r.Tools, &tools) // they have been checked
	switch {
	case r.Parallel != nil && len(tools) == 0:
		return invalid("parallel_tool_calls", "Invalid value for 'parallel_tool_calls': 'parallel_tool_calls' is only allowed when 'tools' are specified.")
	case len(r.Choice) == 0:
		return nil
	case len(tools) == 0:
		return invalid("tool_choice", "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.")
	}
	var word string
	if json.Unmarshal(r.Choice, &word) == nil {
		if !slices.Contains([]string{"none", "auto", "required"}, word) {
			return invalid("tool_choice", "Invalid value: '%s'. Supported values are: 'none', 'auto', and 'required'.", word)
		}
		return nil
	}
	var named namedTool
	if json.Unmarshal(r.Choice, &named) != nil || named.Type != "function" || !slices.Contains(tools, named) {
		return invalid("tool_choice", "Tool choice '%s' not found in 'tools' parameter.", named.Function.Name)
	}
	return nil
}

// choice checks tool_choice, which has the members of its type only.
func (c *claudeRules) choice(raw json.RawMessage, tools map[string]bool) {
	if raw == nil {
		return
	}
	var head struct{ Type, Name string }
	c.decode("tool_choice", raw, &head, "a valid dictionary")
	allowed, known := map[string]string{
		"auto": "type disable_parallel_tool_use", "any": "type disable_parallel_tool_use",
		"tool": "type name disable_parallel_tool_use", "none": "type",
	}[head.Type]
	switch {
	case len(tools) == 0:
		c.refuse("tool_choice may only be specified while providing tools")
	case !known:
		c.refuse("tool_choice: Input tag '%s' found using 'type' does not match any of the expected tags: 'auto', 'any', 'tool', 'none'", head.Type)
	case head.Type == "tool" && !tools[head.Name]:
		c.refuse("Tool '%s' not found in provided tools", head.Name)
	}
	c.object(fmt.Sprintf("tool_choice.%s", head.Type), raw, allowed)
}

// validateChoice checks the toolConfig: names are allowed with the mode ANY only.
func (r geminiRequest) validateChoice(functions []string) *apiError {
	if r.Choice == nil {
		return nil
	}
	calling := r.Choice.Calling
	switch {
	case !slices.Contains([]string{"AUTO", "ANY", "NONE", "VALIDATED"}, calling.Mode):
		return invalid("", "Invalid value at 'tool_config.function_calling_config.mode' (type.googleapis.com/google.ai.generativelanguage.v1beta.FunctionCallingConfig.Mode), %q", calling.Mode)
	case len(functions) == 0:
		return invalid("", "Function calling config is set without function_declarations.")
	case calling.Mode != "ANY" && len(calling.Names) > 0:
		return invalid("", "Allowed_function_names should be set only when function calling mode is ANY.")
	}
	for _, name := range calling.Names {
		if !slices.Contains(functions, name) {
			return invalid("", "Allowed function name %q is not in the function declarations.", name)
		}
	}
	return nil
}
