package commands

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"agent-stop-and-go/mcpservers/commands/definition"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

func prompt(p *definition.Prompt) server.ServerPrompt {
	shown := mcp.Prompt{Name: p.Name, Description: strings.TrimSpace(p.Short + "\n\n" + p.Long)}
	for _, parameter := range p.Parameters() {
		shown.Arguments = append(shown.Arguments, mcp.PromptArgument{
			Name: parameter.Name, Description: strings.TrimSpace(parameter.Help), Required: parameter.Required && parameter.Default == nil,
		})
	}
	return server.ServerPrompt{Prompt: shown, Handler: func(_ context.Context, request mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		messages, err := p.Fill(request.Params.Arguments)
		if err != nil {
			return nil, err
		}
		result := &mcp.GetPromptResult{Description: p.Short}
		for _, m := range messages {
			result.Messages = append(result.Messages, mcp.NewPromptMessage(mcp.Role(m.Role), mcp.NewTextContent(m.Text)))
		}
		return result, nil
	}}
}

func resource(r *definition.Resource) server.ServerResource {
	shown := mcp.Resource{URI: r.URI, Name: r.Name, Description: r.Short, MIMEType: r.MIMEType}
	return server.ServerResource{Resource: shown, Handler: func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		data, err := contents(r)
		if err != nil {
			return nil, err
		}
		if utf8.Valid(data) {
			return []mcp.ResourceContents{mcp.TextResourceContents{URI: r.URI, MIMEType: r.MIMEType, Text: string(data)}}, nil
		}
		return []mcp.ResourceContents{mcp.BlobResourceContents{URI: r.URI, MIMEType: r.MIMEType, Blob: base64.StdEncoding.EncodeToString(data)}}, nil
	}}
}

// contents reads the file anew for each request.
func contents(r *definition.Resource) ([]byte, error) {
	if r.File == "" {
		return []byte(r.Text), nil
	}
	file, err := os.Open(r.File)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", r.URI, err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, definition.MaxResource+1))
	if err == nil && len(data) > definition.MaxResource {
		err = fmt.Errorf("the file is larger than %d bytes", definition.MaxResource)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", r.URI, err)
	}
	return data, nil
}
