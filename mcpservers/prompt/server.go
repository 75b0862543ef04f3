package prompt

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"agent-stop-and-go/mcpservers/hosting"
	"agent-stop-and-go/mcpservers/hosting/auth"
	"agent-stop-and-go/mcpservers/prompt/sections"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// Name and Version identify the server in the handshake.
const (
	Name          = "mcp-prompt"
	ServerVersion = "1.0.0"
)

const instructions = "The system prompt of an agent, as named sections. Read it with read_prompt before update_prompt: a change needs the base of its section. " +
	"What is changed counts for new conversations."

// URI is the resource with the whole prompt, and Meta the member of its _meta with version and digest.
const (
	URI  = "prompt://system"
	Meta = "agent-stop-and-go/prompt"
)

// MetaBy is the member of a call's _meta with the name of who makes a change. Nothing proves it.
const MetaBy = "agent-stop-and-go/by"

// NewServer returns an MCP server for a store. It logs one line per call, without texts.
func NewServer(store *Store, log *slog.Logger) *server.MCPServer {
	s := server.NewMCPServer(Name, ServerVersion,
		server.WithToolCapabilities(false), server.WithResourceCapabilities(true, false), server.WithInstructions(instructions),
		server.WithStrictInputSchemaDefault(), server.WithInputSchemaValidation(), hosting.WithIdempotency(),
		server.WithRecovery(), server.WithResourceRecovery())
	t := &tools{store: store, log: log, changed: hosting.NewSubscriptions(s)}
	add(s, t, readTool(), t.read)
	add(s, t, updateTool(), t.update)
	add(s, t, historyTool(), t.history)
	add(s, t, revertTool(), t.revert)
	add(s, t, previewTool(), t.preview)
	s.AddResource(mcp.NewResource(URI, "system prompt", mcp.WithResourceDescription("The whole system prompt"), mcp.WithMIMEType("text/markdown")), t.resource)
	s.AddResource(mcp.NewResource(sections.URI, "system prompt with its sections", mcp.WithResourceDescription("The whole system prompt, its version and its sections, for programs"), mcp.WithMIMEType("application/json")), t.whole)
	return s
}

type tools struct {
	store   *Store
	log     *slog.Logger
	changed *hosting.Subscriptions
}

// call is a call of a tool.
type call struct {
	request mcp.CallToolRequest
	args    map[string]json.RawMessage
}

// author is who makes a change: the caller if it is proven, else whom the call names.
func (c call) author(ctx context.Context) (Author, error) {
	key, err := hosting.ParseCallKey(c.request, c.args)
	by := ""
	if c.request.Params.Meta != nil {
		by, _ = c.request.Params.Meta.AdditionalFields[MetaBy].(string)
	}
	if len(by) > maxWhy {
		return Author{}, fmt.Errorf("_meta %s has more than %d bytes", MetaBy, maxWhy)
	}
	return Author{By: cmp.Or(auth.Caller(ctx), by), Key: key}, err
}

// add adds a tool whose function gets the arguments as In. Its text is the model's, and the result structured.
func add[In, Out any](s *server.MCPServer, t *tools, tool mcp.Tool, do func(context.Context, call, In) (Out, string, error)) {
	s.AddTool(tool, func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		start := time.Now()
		out, text, err := run(ctx, request, do)
		t.log.With(hosting.CallerAttrs(request)...).Info("tool", "tool", tool.Name, "ok", err == nil, "latency", time.Since(start))
		if err != nil {
			return mcp.NewToolResultError(err.Error()), nil
		}
		return mcp.NewToolResultStructured(out, text), nil
	})
}

func run[In, Out any](ctx context.Context, request mcp.CallToolRequest, do func(context.Context, call, In) (Out, string, error)) (out Out, text string, err error) {
	c := call{request: request}
	var in In
	if err := request.BindArguments(&c.args); err != nil {
		return out, "", errors.New("arguments must be a JSON object")
	}
	if err := request.BindArguments(&in); err != nil {
		return out, "", fmt.Errorf("arguments: %w", err)
	}
	return do(ctx, c, in)
}

// whole is the prompt that agents of other machines begin conversations with.
func (t *tools) whole(ctx context.Context, _ mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	now, err := t.store.Read(ctx)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(sections.NewReading(now.Prompt, now.Version.Number))
	if err != nil {
		return nil, err
	}
	return []mcp.ResourceContents{mcp.TextResourceContents{URI: sections.URI, MIMEType: "application/json", Text: string(data)}}, nil
}

func (t *tools) resource(ctx context.Context, _ mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	now, err := t.store.Read(ctx)
	if err != nil {
		return nil, err
	}
	return []mcp.ResourceContents{mcp.TextResourceContents{
		URI: URI, MIMEType: "text/markdown", Text: now.Assemble(), Meta: map[string]any{Meta: map[string]any{"version": now.Version.Number, "digest": now.Base()}},
	}}, nil
}
