package hosting

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// MissingResources makes reading a missing resource return the protocol's "resource not found":
// -32002, or -32602 since 2026-07-28. The handler of a template cannot return these codes,
// because its errors are -32603. missing reports whether a resource is missing. Call
// MissingResources before s serves.
func MissingResources(s *server.MCPServer, missing func(ctx context.Context, uri string) bool) {
	hooksOf(s).AddBeforeReadResource(func(ctx context.Context, _ any, request *mcp.ReadResourceRequest) {
		if missing(ctx, request.Params.URI) {
			request.Params.URI = " " + request.Params.URI // no template matches this
		}
	})
}

func hooksOf(s *server.MCPServer) *server.Hooks {
	hooks := s.GetHooks()
	if hooks == nil {
		hooks = &server.Hooks{}
		server.WithHooks(hooks)(s)
	}
	return hooks
}
