package hosting

import (
	"maps"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
)

// Hints are the properties that a tool declares. OpenWorld is for tools that reach things outside of
// their server.
type Hints struct{ ReadOnly, Destructive, Idempotent, OpenWorld bool }

// Annotation sets every hint, because the default of mcp-go and of the protocol is
// "destructive".
func (h Hints) Annotation(title string) mcp.ToolOption {
	return mcp.WithToolAnnotation(mcp.ToolAnnotation{
		Title:           title,
		ReadOnlyHint:    mcp.ToBoolPtr(h.ReadOnly),
		DestructiveHint: mcp.ToBoolPtr(h.Destructive),
		IdempotentHint:  mcp.ToBoolPtr(h.Idempotent),
		OpenWorldHint:   mcp.ToBoolPtr(h.OpenWorld),
	})
}

// Parameters returns the names of the arguments of a tool, sorted, as ParseArguments takes them.
func Parameters(t mcp.Tool) []string { return slices.Sorted(maps.Keys(t.InputSchema.Properties)) }

// ResultOf declares T as the result of a tool. Results never contain null, which the schema
// that is generated from Go pointers and slices would allow.
func ResultOf[T any]() mcp.ToolOption {
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
