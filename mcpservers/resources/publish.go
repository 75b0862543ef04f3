package resources

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"agent-stop-and-go/mcpservers/hosting"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

const (
	scheme   = "resource://"
	jsonType = "application/json"
	pageSize = 500
)

// publisher publishes every stored row as an MCP resource.
type publisher struct {
	server        *server.MCPServer
	store         *Store
	subscriptions *hosting.Subscriptions
}

// publish makes s read rows when they are requested. mcp-go's own list would be a copy without
// the changes of other processes, and its pages skip equal names.
func publish(s *server.MCPServer, store *Store) *publisher {
	p := &publisher{s, store, hosting.NewSubscriptions(s)}
	s.AddResourceTemplate(mcp.NewResourceTemplate(scheme+"{id}", "resource",
		mcp.WithTemplateDescription("One stored number with its name and times, by the id that resources_list gives"),
		mcp.WithTemplateMIMEType(jsonType)), p.read)
	s.GetHooks().AddAfterListResources(p.list)
	hosting.MissingResources(s, p.missing)
	return p
}

// notifyChanged notifies clients that rows were added or removed.
func (p *publisher) notifyChanged(ids ...string) {
	if len(ids) == 0 {
		return
	}
	for _, id := range ids {
		p.subscriptions.Updated(scheme + id)
	}
	p.server.SendNotificationToAllClients(mcp.MethodNotificationResourcesListChanged, nil)
}

func (p *publisher) missing(ctx context.Context, uri string) bool {
	_, ok, err := p.store.Get(ctx, strings.TrimPrefix(uri, scheme))
	return err == nil && !ok
}

func (p *publisher) read(ctx context.Context, request mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	uri := request.Params.URI
	row, ok, err := p.store.Get(ctx, strings.TrimPrefix(uri, scheme))
	if err != nil {
		return nil, err
	}
	if !ok { // removed meanwhile
		return nil, fmt.Errorf("%w: %s", server.ErrResourceNotFound, uri)
	}
	text, err := json.MarshalIndent(row, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode resource: %w", err)
	}
	return []mcp.ResourceContents{mcp.TextResourceContents{URI: uri, MIMEType: jsonType, Text: string(text)}}, nil
}

// list returns the requested page.
func (p *publisher) list(ctx context.Context, _ any, request *mcp.ListResourcesRequest, result *mcp.ListResourcesResult) {
	rows, err := p.store.Page(ctx, position(request.Params.Cursor), pageSize+1)
	if err != nil {
		panic(err) // a hook cannot return an error; every transport answers -32603
	}
	if len(rows) > pageSize {
		rows = rows[:pageSize]
		result.NextCursor = cursor(rows[pageSize-1])
	}
	for _, row := range rows {
		result.Resources = append(result.Resources, described(row))
	}
}

func described(row Resource) mcp.Resource {
	return mcp.NewResource(scheme+row.ID, row.Name,
		mcp.WithResourceDescription(fmt.Sprintf("The number %d", row.Value)), mcp.WithMIMEType(jsonType))
}

// cursor encodes the last row of a page, in base64 as mcp-go requires.
func cursor(last Resource) mcp.Cursor {
	text, _ := json.Marshal([]string{last.Name, last.ID}) // strings can always be encoded
	return mcp.Cursor(base64.StdEncoding.EncodeToString(text))
}

func position(c mcp.Cursor) Resource {
	text, err := base64.StdEncoding.DecodeString(string(c))
	var at [2]string
	if err != nil || json.Unmarshal(text, &at) != nil {
		return Resource{} // invalid: return the first page
	}
	return Resource{Name: at[0], ID: at[1]}
}
