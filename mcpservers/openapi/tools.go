package openapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"agent-stop-and-go/mcpservers/hosting"
	"agent-stop-and-go/mcpservers/openapi/api"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// longDescription is the length of a description that is sent to a model, in characters.
const longDescription = 1500

// Register adds the tools to the server of the protocol.
func (s *Server) Register(to *server.MCPServer) error {
	if s.discovers() {
		s.registerDiscovery(to)
		return nil
	}
	for _, o := range s.operations {
		tool, err := definition(o)
		if err != nil {
			return err
		}
		to.AddTool(tool, s.handler(func(ctx context.Context, request mcp.CallToolRequest) (*outcome, error) {
			raw, err := argumentsOf(request)
			if err != nil {
				return nil, err
			}
			return s.call(ctx, request, o, raw)
		}))
	}
	return nil
}

// definition is the tool of an operation.
func definition(o *api.Operation) (mcp.Tool, error) {
	schema, err := json.Marshal(o.Input)
	if err != nil {
		return mcp.Tool{}, fmt.Errorf("%s: %w", o.Name, err)
	}
	tool := mcp.NewToolWithRawSchema(o.Name, describe(o), schema)
	hints(o.Hints).Annotation(titleOf(o))(&tool)
	return tool, nil
}

func hints(h api.Hints) hosting.Hints {
	return hosting.Hints{ReadOnly: h.ReadOnly, Destructive: h.Destructive, Idempotent: h.Idempotent, OpenWorld: true}
}

func argumentsOf(request mcp.CallToolRequest) (json.RawMessage, error) {
	args := map[string]json.RawMessage{}
	if err := request.BindArguments(&args); err != nil {
		return nil, errors.New("arguments must be a JSON object")
	}
	return json.Marshal(args)
}

// handler logs a call. An unknown outcome is an error of the protocol, every other error a result.
func (s *Server) handler(do func(context.Context, mcp.CallToolRequest) (*outcome, error)) server.ToolHandlerFunc {
	return func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		start := time.Now()
		ctx, cancel := context.WithTimeout(ctx, time.Duration(s.config.Timeout))
		defer cancel()
		result, err := do(ctx, request)
		attrs := []any{"tool", request.Params.Name, "ok", err == nil, "latency", time.Since(start)}
		if result != nil && result.Status != 0 {
			attrs = append(attrs, "status", result.Status)
		}
		s.log.With(hosting.CallerAttrs(request)...).Info("tool", attrs...)
		if errors.Is(err, errUnknown) {
			s.log.Error("outcome unknown", "tool", request.Params.Name, "err", s.credentials.Masked(err))
			return nil, s.credentials.Masked(err)
		}
		if err != nil {
			return mcp.NewToolResultError(s.credentials.Mask(err.Error())), nil
		}
		return mcp.NewToolResultText(s.credentials.Mask(result.Text)), nil
	}
}
