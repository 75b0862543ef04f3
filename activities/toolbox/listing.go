package toolbox

import (
	"context"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
)

// listing is the tools that a server offers, the names in its settings that it does not have,
// and names that several of its tools have.
type listing struct {
	tools        []Tool
	unknownNames []string
	doubles      []string
	// sources are the tools that tell facts, noSources those of them that are declared wrongly.
	sources, noSources []string
	// The server has declared that it has none of these.
	noResources, noPrompts bool
}

// list lists the server's tools, and whether it has resources and prompts.
func (c *conn) list(ctx context.Context) (listing, error) {
	has := c.client.GetServerCapabilities()
	list := listing{}
	if has.Tools != nil {
		var err error
		if list, err = c.listTools(ctx); err != nil {
			return listing{}, c.unlisted(err)
		}
	}
	list.noResources, list.noPrompts = has.Resources == nil, has.Prompts == nil
	return list, nil
}

// listTools reads every page of tools/list.
func (c *conn) listTools(ctx context.Context) (listing, error) {
	x := &trace{}
	valid, err := c.client.ListTools(withTrace(ctx, x), mcp.ListToolsRequest{})
	if err != nil {
		return listing{}, x.explain(ctx, err)
	}
	usable := map[string]bool{}
	for _, tool := range valid.Tools {
		usable[tool.Name] = true
	}
	pages, hidden := x.pages(), c.server.mask(callerOf(ctx).bearer)
	for i, page := range pages {
		pages[i] = hidden.JSON(page)
	}
	return parseTools(c.server, pages, usable)
}

func (c *conn) unlisted(err error) error {
	return fmt.Errorf("list the tools: MCP server %q: %w", c.server.Name, err)
}
