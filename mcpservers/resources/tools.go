package resources

import "github.com/mark3labs/mcp-go/mcp"

// Tool names are wire: agents, approvals and stored idempotency keys carry them.
const (
	toolAdd    = "resources_add"
	toolRemove = "resources_remove"
	toolList   = "resources_list"
)

// Every hint is stated on every tool: what is left out, mcp-go and the protocol
// fill with "destructive". Remove is not called idempotent: a pattern repeated
// later may remove more than was agreed to.

func addTool() mcp.Tool {
	return mcp.NewTool(toolAdd,
		mcp.WithDescription("Add a resource: a name with a whole number. Returns the stored resource with its new id. "+
			"Names need not be unique; adding the same name twice gives two resources."),
		mcp.WithToolAnnotation(hints("Add a resource", hint{destructive: true})),
		mcp.WithString("name", mcp.Required(), mcp.MinLength(1), mcp.Description("Name of the resource, for example server-1")),
		mcp.WithInteger("value", mcp.Required(), mcp.Description("Whole number to store, for example 42")),
		mcp.WithOutputSchema[Resource](),
	)
}

func removeTool() mcp.Tool {
	return mcp.NewTool(toolRemove,
		mcp.WithDescription("Remove resources for good: the one with the given id, every one whose name matches pattern, or both. "+
			"At least one of the two is required. All are removed or none."),
		mcp.WithToolAnnotation(hints("Remove resources", hint{destructive: true})),
		mcp.WithString("id", mcp.Description("Id of one resource, as given by resources_list")),
		mcp.WithString("pattern", mcp.Description("Go regular expression found anywhere in the name; "+
			"^old- for names that begin with old-, ^web$ for exactly web, .* for all")),
		result[Removed]("removed_ids"),
	)
}

func listTool() mcp.Tool {
	return mcp.NewTool(toolList,
		mcp.WithDescription("List resources with id, name, value and times, ordered by name."),
		mcp.WithToolAnnotation(hints("List resources", hint{readOnly: true, idempotent: true})),
		mcp.WithString("pattern", mcp.Description("Go regular expression found anywhere in the name; leave it out for all resources")),
		result[Listed]("resources"),
	)
}

// result describes what a tool gives. The lists in it are never null, which the
// schema made from a Go type would allow.
func result[R any](list string) mcp.ToolOption {
	return func(t *mcp.Tool) {
		mcp.WithOutputSchema[R]()(t)
		if property, ok := t.OutputSchema.Properties[list].(map[string]any); ok {
			property["type"] = "array"
		}
	}
}

type hint struct{ readOnly, destructive, idempotent bool }

func hints(title string, h hint) mcp.ToolAnnotation {
	return mcp.ToolAnnotation{
		Title:           title,
		ReadOnlyHint:    mcp.ToBoolPtr(h.readOnly),
		DestructiveHint: mcp.ToBoolPtr(h.destructive),
		IdempotentHint:  mcp.ToBoolPtr(h.idempotent),
		OpenWorldHint:   mcp.ToBoolPtr(false),
	}
}
