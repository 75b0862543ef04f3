package mcpserver

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/mcpservers/hosting"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/document"
)

const (
	scheme = "conversation://"
	files  = "/files/"
	// listed is how many conversations a page of the list has.
	listed = 50
)

// addResources adds the conversations that the caller sees, and their files.
func (s *Server) addResources(m *server.MCPServer) {
	m.AddResourceTemplate(mcp.NewResourceTemplate(scheme+"{id}", "conversation",
		mcp.WithTemplateDescription("A conversation with the agent: its messages, and what waits"), mcp.WithTemplateMIMEType("application/json")), s.read)
	m.AddResourceTemplate(mcp.NewResourceTemplate(scheme+"{id}"+files+"{sha256}", "file",
		mcp.WithTemplateDescription("A file of a conversation, by the SHA-256 of its content")), s.read)
	m.GetHooks().AddBeforeListResources(checkCursor)
	m.GetHooks().AddAfterListResources(s.list)
	hosting.MissingResources(m, s.missing)
}

// mayRead reports whether the caller may read at all. What it sees is checked with each conversation.
func mayRead(ctx context.Context) bool {
	c := request.From(ctx).Caller
	return !c.Authenticated() || c.Identity.May(contract.ScopeRead)
}

// checkCursor makes a cursor that is not one of list one that mcp-go refuses.
func checkCursor(_ context.Context, _ any, q *mcp.ListResourcesRequest) {
	if _, ok := tokenOf(q.Params.Cursor); !ok {
		q.Params.Cursor = "!"
	}
}

// tokenOf returns the page token in a cursor, which mcp-go wants to be base64.
func tokenOf(cursor mcp.Cursor) ([]byte, bool) {
	data, err := base64.StdEncoding.DecodeString(string(cursor))
	if err != nil {
		return nil, false
	}
	return request.DecodeCursor(string(data))
}

// list adds a page of the caller's conversations, the newest first.
func (s *Server) list(ctx context.Context, _ any, q *mcp.ListResourcesRequest, out *mcp.ListResourcesResult) {
	if !mayRead(ctx) {
		return
	}
	token, _ := tokenOf(q.Params.Cursor)
	page, err := s.Exchanges.Service.List(ctx, service.ListQuery{Limit: listed, Token: token})
	if err != nil {
		s.Logger.Warn("conversations could not be listed as resources", "error", err)
		return
	}
	for _, c := range page.Items {
		r := mcp.NewResource(scheme+c.ID, cmp.Or(c.Title, "Conversation "+c.ID), mcp.WithResourceDescription(string(c.Status)), mcp.WithMIMEType("application/json"))
		out.Resources = append(out.Resources, r)
	}
	out.NextCursor = mcp.Cursor(base64.StdEncoding.EncodeToString([]byte(request.EncodeCursor(page.Next))))
}

// parts returns the conversation of a URI, and the SHA-256 of its file or "".
func parts(uri string) (id, sum string, ok bool) {
	rest, ok := strings.CutPrefix(uri, scheme)
	id, sum, _ = strings.Cut(rest, files)
	return id, sum, ok && contract.IsUUID(id)
}

// missing reports whether the caller sees no such resource.
func (s *Server) missing(ctx context.Context, uri string) bool {
	id, sum, ok := parts(uri)
	if !ok || !mayRead(ctx) {
		return true
	}
	if sum != "" {
		_, _, err := s.Exchanges.Service.Media(ctx, id, sum)
		return service.IsKind(err, contract.KindNotFound)
	}
	_, err := s.Exchanges.Service.Document(ctx, id, service.Part{})
	return service.IsKind(err, contract.KindNotFound)
}

// read reads a conversation or a file of one.
func (s *Server) read(ctx context.Context, r mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	uri := r.Params.URI
	id, sum, ok := parts(uri)
	if !ok || !mayRead(ctx) {
		return nil, fmt.Errorf("%s is not there", service.Printable(uri))
	}
	if sum != "" {
		found, data, err := s.Exchanges.Service.Media(ctx, id, sum)
		if err != nil {
			return nil, service.Explain(err)
		}
		return []mcp.ResourceContents{mcp.BlobResourceContents{URI: uri, MIMEType: found.MIMEType, Blob: base64.StdEncoding.EncodeToString(data)}}, nil
	}
	d, err := s.Exchanges.Service.Document(ctx, id, service.Part{Whole: true})
	if err != nil {
		return nil, service.Explain(err)
	}
	data, err := document.EncodeWhole(d)
	if err != nil {
		return nil, err
	}
	return []mcp.ResourceContents{mcp.TextResourceContents{URI: uri, MIMEType: "application/json", Text: string(data)}}, nil
}
