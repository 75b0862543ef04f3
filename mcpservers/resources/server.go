package resources

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"time"

	"agent-stop-and-go/mcpservers/hosting"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// Name and Version identify the server in the MCP handshake.
const (
	Name    = "mcp-resources"
	Version = "1.0.0"
)

const instructions = "Stores named whole numbers. resources_list reads; resources_add and resources_remove change what is stored. " +
	"Each number is also readable, and can be subscribed to, as resource://ID."

// NewServer returns an MCP server with the tools, resources and prompts for store. It logs one
// line per tool call, without arguments. The caller closes store after the last call has ended.
func NewServer(store *Store, log *slog.Logger) *server.MCPServer {
	t := &tools{store: store, log: log}
	// Input schema validation is off, because its texts would replace the ones that clients
	// match on ("name is required"). The handlers validate the arguments.
	s := server.NewMCPServer(Name, Version,
		server.WithToolCapabilities(false),
		server.WithResourceCapabilities(true, true),
		server.WithPromptCapabilities(false),
		server.WithInstructions(instructions),
		server.WithStrictInputSchemaDefault(),
		server.WithToolHandlerMiddleware(t.logCall),
		hosting.WithIdempotency(),
		server.WithRecovery(),
		server.WithResourceRecovery(),
	)
	t.publisher = publish(s, store)
	s.AddTool(addTool(), t.add)
	s.AddTool(removeTool(), t.remove)
	s.AddTool(listTool(), t.list)
	s.AddPrompts(prompts(store)...)
	return s
}

// tools has the tool handlers. Errors that a caller can correct and errors of the store are
// results with isError, because the model would not see an error of the handler.
type tools struct {
	store     *Store
	log       *slog.Logger
	publisher *publisher
}

func (t *tools) add(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	args, err := hosting.ParseArguments(request, "name", "value")
	if err != nil {
		return errorResult(err)
	}
	name, err := args.Required("name")
	if err != nil {
		return errorResult(err)
	}
	if strings.TrimSpace(name) == "" {
		return errorResult(errors.New("name is required"))
	}
	if !args.Has("value") {
		return errorResult(errors.New("value is required"))
	}
	value, err := args.Integer("value", 0)
	if err != nil {
		return errorResult(err)
	}
	callKey, err := hosting.ParseCallKey(request, args)
	if err != nil {
		return errorResult(err)
	}
	added, err := t.store.Add(ctx, callKey, name, value)
	if err == nil {
		t.publisher.notifyChanged(added.ID)
	}
	return t.answer("failed to add resource", added, err)
}

func (t *tools) remove(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	args, err := hosting.ParseArguments(request, "id", "pattern")
	if err != nil {
		return errorResult(err)
	}
	id, err := args.Text("id", "")
	if err != nil {
		return errorResult(err)
	}
	pattern, err := patternOf(args)
	if err != nil {
		return errorResult(err)
	}
	if id == "" && pattern == nil {
		return errorResult(errors.New("either id or pattern is required"))
	}
	callKey, err := hosting.ParseCallKey(request, args)
	if err != nil {
		return errorResult(err)
	}
	removed, err := t.store.Remove(ctx, callKey, Filter{ID: id, Pattern: pattern})
	if err == nil {
		t.publisher.notifyChanged(removed.RemovedIDs...)
	}
	return t.answer("failed to remove resources", removed, err)
}

func (t *tools) list(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	args, err := hosting.ParseArguments(request, "pattern")
	if err != nil {
		return errorResult(err)
	}
	pattern, err := patternOf(args)
	if err != nil {
		return errorResult(err)
	}
	listed, err := t.store.List(ctx, pattern)
	return t.answer("failed to list resources", listed, err)
}

// patternOf compiles the argument pattern. It returns nil if the argument is absent or empty.
func patternOf(args hosting.Arguments) (*regexp.Regexp, error) {
	text, err := args.Text("pattern", "")
	if err != nil || text == "" {
		return nil, err
	}
	pattern, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("invalid pattern: %w", err)
	}
	return pattern, nil
}

func errorResult(err error) (*mcp.CallToolResult, error) {
	return mcp.NewToolResultError(err.Error()), nil
}

func (t *tools) answer(failure string, result any, err error) (*mcp.CallToolResult, error) {
	if errors.Is(err, hosting.ErrKeyReused) {
		return errorResult(err)
	}
	if err != nil {
		t.log.Error(failure, "err", err)
		return errorResult(fmt.Errorf("%s: %w", failure, err))
	}
	text, err := json.MarshalIndent(result, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode result: %w", err)
	}
	return mcp.NewToolResultStructured(result, string(text)), nil
}

func (t *tools) logCall(next server.ToolHandlerFunc) server.ToolHandlerFunc {
	return func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		start := time.Now()
		result, err := next(ctx, request)
		outcome := "ok"
		if err != nil {
			outcome = "panic"
			t.log.Error("tool failed", "tool", request.Params.Name, "err", err)
		} else if result.IsError {
			outcome = "refused"
		}
		t.log.With(hosting.CallerAttrs(request)...).Info("tool", "tool", request.Params.Name, "outcome", outcome, "latency", time.Since(start))
		return result, err
	}
}
