package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"

	"agent-stop-and-go/mcpservers/commands"
	"agent-stop-and-go/mcpservers/hosting"
	"agent-stop-and-go/mcpservers/mirror"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

// client is "client tools list URL", "client tools call NAME [--json …] URL" and the same for prompts and
// resources.
func (p process) client(ctx context.Context) error {
	if len(p.args) < 2 {
		return errors.New("client needs tools, prompts or resources, and list, call, get or read (see --help)")
	}
	verb, rest := p.args[0]+" "+p.args[1], p.args[2:]
	set := flag.NewFlagSet("client", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	arguments := set.String("json", "{}", "")
	tokenEnv := set.String("auth-token-env", "", "")
	name := ""
	switch verb {
	case "tools list", "prompts list", "resources list":
	case "tools call", "prompts get", "resources read":
		if len(rest) == 0 {
			return fmt.Errorf("client %s needs a name (see --help)", verb)
		}
		name, rest = rest[0], rest[1:]
	default:
		return fmt.Errorf("unknown command: client %s (see --help)", verb)
	}
	if err := set.Parse(rest); err != nil {
		return fmt.Errorf("%w (see --help)", err)
	}
	c, err := p.connect(ctx, set.Args(), *tokenEnv)
	if err != nil {
		return err
	}
	defer c.Close()
	result, err := ask(ctx, c, verb, name, []byte(*arguments))
	if err != nil {
		return err
	}
	if called, ok := result.(*mcp.CallToolResult); ok {
		return p.print(called)
	}
	encoder := json.NewEncoder(p.stdout)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(result)
}

func (p process) connect(ctx context.Context, words []string, tokenEnv string) (*client.Client, error) {
	target, err := mirror.Parse(words)
	if err != nil {
		return nil, err
	}
	target.Name, target.Version, target.Stderr = commands.Name, version, p.stderr
	if target.Token, err = (hosting.Settings{AuthTokenEnv: tokenEnv}).Token(p.getenv); err != nil {
		return nil, err
	}
	return mirror.Connect(ctx, target)
}

func ask(ctx context.Context, c *client.Client, verb, name string, arguments []byte) (any, error) {
	switch verb {
	case "tools list":
		result, err := c.ListTools(ctx, mcp.ListToolsRequest{})
		if err != nil {
			return nil, err
		}
		return result.Tools, nil
	case "prompts list":
		result, err := c.ListPrompts(ctx, mcp.ListPromptsRequest{})
		if err != nil {
			return nil, err
		}
		return result.Prompts, nil
	case "resources list":
		result, err := c.ListResources(ctx, mcp.ListResourcesRequest{})
		if err != nil {
			return nil, err
		}
		return result.Resources, nil
	case "resources read":
		var request mcp.ReadResourceRequest
		request.Params.URI = name
		return c.ReadResource(ctx, request)
	case "prompts get":
		var request mcp.GetPromptRequest
		request.Params.Name = name
		if err := json.Unmarshal(arguments, &request.Params.Arguments); err != nil {
			return nil, fmt.Errorf("--json: %w", err)
		}
		return c.GetPrompt(ctx, request)
	}
	var request mcp.CallToolRequest
	request.Params.Name = name
	if !json.Valid(arguments) {
		return nil, errors.New("--json: not valid JSON")
	}
	request.Params.Arguments = json.RawMessage(arguments)
	return c.CallTool(ctx, request)
}

// bridge serves an HTTP server over stdio, or a command over HTTP.
func (p process) bridge(ctx context.Context) error {
	settings := hosting.DefaultSettings(3001)
	set := flag.NewFlagSet("bridge", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	settings.Transport = ""
	settings.Bind(set)
	tokenEnv := set.String("server-token-env", "", "")
	if err := set.Parse(p.args); err != nil {
		return fmt.Errorf("%w (see --help)", err)
	}
	if settings.Transport == "" {
		settings.Transport = hosting.TransportHTTP
		if target, err := mirror.Parse(set.Args()); err == nil && target.URL != "" {
			settings.Transport = hosting.TransportStdio
		}
	}
	if err := settings.Validate(); err != nil {
		return err
	}
	log, err := hosting.NewLogger(p.getenv, p.stderr, settings.OverStdio())
	if err != nil {
		return err
	}
	c, err := p.connect(ctx, set.Args(), *tokenEnv)
	if err != nil {
		return err
	}
	defer c.Close()
	m, err := mirror.New(ctx, c, commands.Name+"-bridge", version)
	if err != nil {
		return err
	}
	token, err := settings.Token(p.getenv)
	if err != nil {
		return err
	}
	return hosting.Run(ctx, hosting.Options{Settings: settings, Name: commands.Name + "-bridge", Token: token, Log: log, Stdin: p.stdin, Stdout: p.stdout}, m)
}
