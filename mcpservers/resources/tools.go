package resources

import (
	"agent-stop-and-go/mcpservers/hosting"

	"github.com/mark3labs/mcp-go/mcp"
)

// Tool names must not change: agents, approvals and stored idempotency keys contain them.
const (
	toolAdd    = "resources_add"
	toolRemove = "resources_remove"
	toolList   = "resources_list"
)

// The remove tool is not declared idempotent: a repeated pattern may remove more than was
// approved.

func addTool() mcp.Tool {
	return mcp.NewTool(toolAdd,
		mcp.WithDescription("Add a resource: a name with a whole number. Returns the stored resource with its new id. "+
			"Names need not be unique; adding the same name twice gives two resources."),
		hosting.Hints{Destructive: true}.Annotation("Add a resource"),
		mcp.WithString("name", mcp.Required(), mcp.MinLength(1), mcp.Description("Name of the resource, for example server-1")),
		mcp.WithInteger("value", mcp.Required(), mcp.Description("Whole number to store, for example 42")),
		hosting.ResultOf[Resource](),
	)
}

func removeTool() mcp.Tool {
	return mcp.NewTool(toolRemove,
		mcp.WithDescription("Remove resources for good: the one with the given id, every one whose name matches pattern, or both. "+
			"At least one of the two is required. All are removed or none."),
		hosting.Hints{Destructive: true}.Annotation("Remove resources"),
		mcp.WithString("id", mcp.Description("Id of one resource, as given by resources_list")),
		mcp.WithString("pattern", mcp.Description("Go regular expression found anywhere in the name; "+
			"^old- for names that begin with old-, ^web$ for exactly web, .* for all")),
		hosting.ResultOf[RemoveResult](),
	)
}

func listTool() mcp.Tool {
	return mcp.NewTool(toolList,
		mcp.WithDescription("List resources with id, name, value and times, ordered by name."),
		hosting.Hints{ReadOnly: true, Idempotent: true}.Annotation("List resources"),
		mcp.WithString("pattern", mcp.Description("Go regular expression found anywhere in the name; leave it out for all resources")),
		hosting.ResultOf[ListResult](),
	)
}
