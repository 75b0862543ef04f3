package hosting

import (
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
)

// Hints are what a tool says of itself. A tool here changes nothing beyond its server.
type Hints struct{ ReadOnly, Destructive, Idempotent bool }

// Annotation states every hint: what is left out, mcp-go and the protocol fill with
// "destructive".
func (h Hints) Annotation(title string) mcp.ToolOption {
	return mcp.WithToolAnnotation(mcp.ToolAnnotation{
		Title:           title,
		ReadOnlyHint:    mcp.ToBoolPtr(h.ReadOnly),
		DestructiveHint: mcp.ToBoolPtr(h.Destructive),
		IdempotentHint:  mcp.ToBoolPtr(h.Idempotent),
		OpenWorldHint:   mcp.ToBoolPtr(false),
	})
}

// ResultOf declares T as what a tool answers. Nothing in an answer is ever null,
// which the schema that is made from Go pointers and slices would allow.
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
