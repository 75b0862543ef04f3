package mirror

import (
	"context"
	"fmt"
	"sync"

	"agent-stop-and-go/mcpservers/hosting"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// New returns a server that offers what c sees, and follows its changes until c is closed.
func New(ctx context.Context, c *client.Client, name, version string) (*server.MCPServer, error) {
	can := c.GetServerCapabilities()
	options := []server.ServerOption{server.WithToolCapabilities(true), server.WithRecovery(), server.WithResourceRecovery()}
	if can.Prompts != nil {
		options = append(options, server.WithPromptCapabilities(true))
	}
	if can.Resources != nil {
		options = append(options, server.WithResourceCapabilities(false, true))
	}
	if _, ok := can.Experimental[hosting.IdempotencyCapability]; ok {
		options = append(options, hosting.WithIdempotency())
	}
	m := &mirror{client: c, can: can, server: server.NewMCPServer(name, version, options...)}
	if err := m.read(ctx); err != nil {
		return nil, err
	}
	c.OnNotification(func(n mcp.JSONRPCNotification) {
		switch n.Method {
		case mcp.MethodNotificationToolsListChanged, mcp.MethodNotificationPromptsListChanged, mcp.MethodNotificationResourcesListChanged:
			go func() { _ = m.read(context.WithoutCancel(ctx)) }() // if it fails, the old lists stay
		}
	})
	return m.server, nil
}

type mirror struct {
	client *client.Client
	can    mcp.ServerCapabilities
	server *server.MCPServer
	mu     sync.Mutex // one read at a time
}

// read replaces the lists by those of the server.
func (m *mirror) read(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.can.Tools != nil {
		list, err := m.client.ListTools(ctx, mcp.ListToolsRequest{})
		if err != nil {
			return fmt.Errorf("list tools: %w", err)
		}
		var tools []server.ServerTool
		for _, tool := range list.Tools {
			tools = append(tools, server.ServerTool{Tool: tool, Handler: m.call})
		}
		m.server.SetTools(tools...)
	}
	if m.can.Prompts != nil {
		list, err := m.client.ListPrompts(ctx, mcp.ListPromptsRequest{})
		if err != nil {
			return fmt.Errorf("list prompts: %w", err)
		}
		var prompts []server.ServerPrompt
		for _, prompt := range list.Prompts {
			prompts = append(prompts, server.ServerPrompt{Prompt: prompt, Handler: m.prompt})
		}
		m.server.SetPrompts(prompts...)
	}
	if m.can.Resources != nil {
		return m.readResources(ctx)
	}
	return nil
}

func (m *mirror) readResources(ctx context.Context) error {
	list, err := m.client.ListResources(ctx, mcp.ListResourcesRequest{})
	if err != nil {
		return fmt.Errorf("list resources: %w", err)
	}
	var resources []server.ServerResource
	for _, resource := range list.Resources {
		resources = append(resources, server.ServerResource{Resource: resource, Handler: m.resource})
	}
	m.server.SetResources(resources...)
	templates, err := m.client.ListResourceTemplates(ctx, mcp.ListResourceTemplatesRequest{})
	if err != nil {
		return fmt.Errorf("list resource templates: %w", err)
	}
	var all []server.ServerResourceTemplate
	for _, template := range templates.ResourceTemplates {
		all = append(all, server.ServerResourceTemplate{Template: template, Handler: m.resource})
	}
	m.server.SetResourceTemplates(all...)
	return nil
}

// call passes on the arguments and _meta, and nothing of the HTTP request.
func (m *mirror) call(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	passed := mcp.CallToolRequest{Request: mcp.Request{Method: request.Method}}
	passed.Params = request.Params
	if passed.Params.Meta != nil {
		meta := *passed.Params.Meta
		meta.ProgressToken = nil
		passed.Params.Meta = &meta
	}
	return m.client.CallTool(ctx, passed)
}

func (m *mirror) prompt(ctx context.Context, request mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	return m.client.GetPrompt(ctx, mcp.GetPromptRequest{Params: request.Params})
}

func (m *mirror) resource(ctx context.Context, request mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	passed := mcp.ReadResourceRequest{}
	passed.Params.URI = request.Params.URI
	result, err := m.client.ReadResource(ctx, passed)
	if err != nil {
		return nil, err
	}
	return result.Contents, nil
}
