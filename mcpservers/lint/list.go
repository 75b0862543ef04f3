package lint

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// maxPages bounds a list that a server never ends.
const maxPages = 100

// listed is a tool as the server wrote it. The types of a library leave out what they do not know, such as a union
// at the top of a schema.
type listed struct {
	mcp.Tool
	text json.RawMessage
}

// list reads the pages of tools/list.
func (r *report) list(ctx context.Context, c *client.Client) ([]listed, error) {
	var all []listed
	params, seen := map[string]any{}, map[string]bool{}
	for page := 1; ; page++ {
		answer, err := c.GetTransport().SendRequest(ctx, transport.JSONRPCRequest{JSONRPC: mcp.JSONRPC_VERSION, ID: mcp.NewRequestId(fmt.Sprint("lint-", page)), Method: string(mcp.MethodToolsList), Params: params})
		if err != nil {
			return nil, fmt.Errorf("list tools: %w", err)
		}
		if answer.Error != nil {
			return nil, fmt.Errorf("list tools: %w", answer.Error.AsError())
		}
		var result struct {
			Tools      []json.RawMessage `json:"tools"`
			NextCursor string            `json:"nextCursor"`
		}
		if err := json.Unmarshal(answer.Result, &result); err != nil {
			return nil, fmt.Errorf("list tools: %w", err)
		}
		for _, text := range result.Tools {
			if t, ok := r.decode(text); ok {
				all = append(all, t)
			}
		}
		if result.NextCursor == "" {
			return all, nil
		}
		if seen[result.NextCursor] || page == maxPages {
			r.add(Error, "list", "", "the list of tools does not end: after %d pages the cursor is %.40q", page, result.NextCursor)
			return all, nil
		}
		seen[result.NextCursor], params["cursor"] = true, result.NextCursor
	}
}

// decode reads a tool. One that cannot be read keeps many clients from reading the others.
func (r *report) decode(text json.RawMessage) (listed, bool) {
	t := listed{text: text}
	if err := json.Unmarshal(text, &t.Tool); err != nil {
		var named struct {
			Name any `json:"name"`
		}
		_ = json.Unmarshal(text, &named) // without a name it is told without one
		name, _ := named.Name.(string)
		r.add(Error, "schema", name, "it cannot be read, and with it the whole list: %v", err)
		return t, false
	}
	return t, true
}
