package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"agent-stop-and-go/mcpservers/commands"
	"agent-stop-and-go/mcpservers/commands/profile"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// tools is "tools list" and "tools run NAME": the same tools as those of the server, without one.
func (p process) tools(ctx context.Context) error {
	if len(p.args) == 0 || p.args[0] != "list" && p.args[0] != "run" && p.args[0] != "call" {
		return errors.New("tools needs list, or run NAME (see --help)")
	}
	s := newSettings()
	set := flag.NewFlagSet("tools", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	file := ""
	set.StringVar(&file, "config", "", "")
	s.Bind(set)
	arguments := ""
	set.StringVar(&arguments, "json", "", "")
	if err := set.Parse(withDefaultFile(p.args[1:])); err != nil {
		return fmt.Errorf("%w (see --help)", err)
	}
	rest := set.Args()
	if file != "" {
		config, err := profile.Load(file)
		if err != nil {
			return err
		}
		s.Config, s.file = config, file
	}
	offered, err := s.offline(p)
	if err != nil {
		return err
	}
	m := commands.NewMCPServer()
	if err := offered.Register(m); err != nil {
		return err
	}
	if p.args[0] == "list" {
		if len(rest) > 0 {
			return fmt.Errorf("unexpected argument %q (see --help)", rest[0])
		}
		return p.listTools(m)
	}
	return p.runTool(ctx, m, rest, arguments)
}

func (p process) listTools(m *server.MCPServer) error {
	tools := m.ListTools()
	for _, name := range slices.Sorted(maps.Keys(tools)) {
		first, _, _ := strings.Cut(tools[name].Tool.Description, "\n")
		if _, err := fmt.Fprintf(p.stdout, "%-32s %-12s %s\n", name, danger(tools[name].Tool.Annotations), first); err != nil {
			return err
		}
	}
	return nil
}

func danger(a mcp.ToolAnnotation) string {
	switch {
	case a.ReadOnlyHint != nil && *a.ReadOnlyHint:
		return "read-only"
	case a.DestructiveHint == nil || *a.DestructiveHint:
		return "destructive"
	}
	return "writes"
}

// runTool calls a tool with arguments from --json, or from --NAME VALUE behind its name.
func (p process) runTool(ctx context.Context, m *server.MCPServer, rest []string, arguments string) error {
	if len(rest) == 0 {
		return errors.New("tools run needs the name of a tool (see tools list)")
	}
	tool := m.GetTool(rest[0])
	if tool == nil {
		return fmt.Errorf("there is no tool %s: there are %s", rest[0], strings.Join(slices.Sorted(maps.Keys(m.ListTools())), ", "))
	}
	args := map[string]any{}
	if arguments != "" {
		if err := json.Unmarshal([]byte(arguments), &args); err != nil {
			return fmt.Errorf("--json: %w", err)
		}
	}
	if err := flagsOf(tool.Tool.InputSchema.Properties, rest[1:], args); err != nil {
		return err
	}
	var request mcp.CallToolRequest
	request.Params.Name, request.Params.Arguments = rest[0], args
	result, err := tool.Handler(ctx, request)
	if err != nil {
		return err
	}
	return p.print(result)
}

// print writes the texts of a result, and fails if it is an error.
func (p process) print(result *mcp.CallToolResult) error {
	for _, content := range result.Content {
		text := fmt.Sprintf("[%T]", content)
		if t, ok := content.(mcp.TextContent); ok {
			text = t.Text
		}
		if _, err := fmt.Fprintln(p.stdout, strings.TrimSuffix(text, "\n")); err != nil {
			return err
		}
	}
	if result.IsError {
		return errFailed
	}
	return nil
}

// flagsOf reads --NAME VALUE, --NAME=VALUE and, for booleans, --NAME.
func flagsOf(properties map[string]any, args []string, to map[string]any) error {
	for i := 0; i < len(args); i++ {
		name, value, given := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(args[i], "-"), "-"), "=")
		schema, ok := properties[name].(map[string]any)
		if !ok || !strings.HasPrefix(args[i], "-") {
			return fmt.Errorf("unknown argument %q: this tool has %s", args[i], strings.Join(slices.Sorted(maps.Keys(properties)), ", "))
		}
		if !given && schema["type"] == "boolean" {
			value, given = "true", true
		}
		if !given {
			if i++; i == len(args) {
				return fmt.Errorf("--%s needs a value", name)
			}
			value = args[i]
		}
		to[name] = valueOf(schema, value)
	}
	return nil
}

// valueOf turns a text into what the schema wants; what does not fit stays a text, which the tool refuses.
func valueOf(schema map[string]any, text string) any {
	switch schema["type"] {
	case "array":
		items, _ := schema["items"].(map[string]any)
		list := []any{}
		if text != "" {
			for _, item := range strings.Split(text, ",") {
				list = append(list, valueOf(items, item))
			}
		}
		return list
	case "integer", "number", "boolean":
		var value any
		if json.Unmarshal([]byte(text), &value) == nil {
			return json.RawMessage(text)
		}
	}
	return text
}
