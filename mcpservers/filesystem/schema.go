package filesystem

import (
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
)

// resultOf declares T as what a tool answers. Nothing in an answer is ever null,
// which the schema that is made from Go pointers and slices would allow.
func resultOf[T any]() mcp.ToolOption {
	return func(t *mcp.Tool) {
		mcp.WithOutputSchema[T]()(t)
		withoutNull(t.OutputSchema.Properties)
	}
}

func withoutNull(schema any) {
	object, ok := schema.(map[string]any)
	if !ok {
		return
	}
	if types, ok := object["type"].([]any); ok {
		types = slices.DeleteFunc(types, func(name any) bool { return name == "null" })
		if len(types) == 1 {
			object["type"] = types[0]
		}
	}
	for _, inner := range object {
		withoutNull(inner)
	}
}
