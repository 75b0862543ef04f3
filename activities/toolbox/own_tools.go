package toolbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/client/transport"

	"agent-stop-and-go/activities/bearer"
	"agent-stop-and-go/workflows/contract"
)

// Our own tools, offered if a server exposes its resources or prompts. They belong to no server:
// Call.Server is empty.
const (
	ToolRead   = "read_resource"
	ToolPrompt = "get_prompt"
)

// ownTools returns our own tools that the servers' settings enable.
func ownTools(servers []Server) []Tool {
	var resources, prompts []string
	for _, s := range servers {
		if s.ExposeResources {
			resources = append(resources, s.Name)
		}
		if s.ExposePrompts {
			prompts = append(prompts, s.Name)
		}
	}
	var out []Tool
	if len(resources) > 0 {
		out = append(out, ownTool(ToolRead, "Reads a resource of a tool server. Without uri it lists the resources that there are.", resources, map[string]any{
			"uri": map[string]any{"type": "string", "description": "The URI of the resource, as the list has it. {parts} of it are to be filled in."},
		}))
	}
	if len(prompts) > 0 {
		out = append(out, ownTool(ToolPrompt, "Gets a prompt of a tool server. Without name it lists the prompts that there are.", prompts, map[string]any{
			"name": map[string]any{"type": "string", "description": "The name of the prompt, as the list has it."},
			"arguments": map[string]any{
				"type": "object", "additionalProperties": map[string]any{"type": "string"}, "description": "The arguments of the prompt.",
			},
		}))
	}
	return out
}

// ownFor returns our own tools for the holder of tokens. They name the servers that have
// resources or prompts, or have not been asked yet.
func (t *Toolbox) ownFor(tokens *bearer.Tokens) []Tool {
	var servers []Server
	for _, l := range t.links {
		list, s := l.listingFor(tokens.Last(l.server.Name)), l.server
		s.ExposeResources = s.ExposeResources && !list.noResources
		s.ExposePrompts = s.ExposePrompts && !list.noPrompts
		servers = append(servers, s)
	}
	return ownTools(servers)
}

func ownTool(name, description string, servers []string, properties map[string]any) Tool {
	properties["server"] = map[string]any{"type": "string", "enum": servers, "description": "The tool server."}
	schema, err := json.Marshal(map[string]any{
		"type": "object", "properties": properties, "required": []string{"server"}, "additionalProperties": false,
	})
	if err != nil {
		panic(err) // a map of strings can be encoded
	}
	approval := contract.ToolApproval{Because: contract.GroundSetting}
	return Tool{
		Tool:     contract.Tool{Name: name, Description: description, InputSchema: schema, Approval: &approval},
		ReadOnly: true, Idempotent: true,
	}
}

// callOwn answers a call of one of our own tools.
func (t *Toolbox) callOwn(ctx context.Context, c Call, args json.RawMessage) (Result, error) {
	var in struct {
		Server    string            `json:"server"`
		URI       string            `json:"uri"`
		Name      string            `json:"name"`
		Arguments map[string]string `json:"arguments"`
	}
	fail := func(kind contract.Kind, err error) (Result, error) {
		return Result{}, &Error{Kind: kind, Tool: c.Tool, Err: err}
	}
	if err := json.Unmarshal(args, &in); err != nil {
		return fail(contract.KindInvalid, fmt.Errorf("decode the arguments: %w", err))
	}
	l := t.link(in.Server)
	a := Access{Server: in.Server, Bearer: c.Bearer, SessionID: c.SessionID}
	who := caller{bearer: c.Bearer, sessionID: c.SessionID}
	switch {
	case !slices.ContainsFunc(t.own, func(own Tool) bool { return own.Name == c.Tool }):
		return fail(contract.KindToolFailed, errNoTool)
	case c.Tool == ToolRead && (l == nil || !l.server.ExposeResources), c.Tool == ToolPrompt && (l == nil || !l.server.ExposePrompts):
		return fail(contract.KindToolFailed, fmt.Errorf("the MCP server %q exposes nothing of the kind", in.Server))
	case c.Tool == ToolRead && in.URI == "":
		resources, err := l.resources(ctx, who)
		return listed(l, resources, err, Resource.line)
	case c.Tool == ToolRead:
		return t.ReadResource(ctx, a, in.URI)
	case in.Name == "":
		prompts, err := l.prompts(ctx, who)
		return listed(l, prompts, err, Prompt.line)
	}
	return t.GetPrompt(ctx, a, in.Name, in.Arguments)
}

var errNoTool = errors.New("there is no such tool")

func listed[T any](l *link, items []T, err error, line func(T) string) (Result, error) {
	if errors.Is(err, transport.ErrAuthorizationRequired) {
		return l.authRequired(err), nil
	}
	if err != nil {
		return Result{}, err
	}
	if len(items) == 0 {
		return Result{Text: "There are none."}, nil
	}
	var lines []string
	for _, item := range items {
		lines = append(lines, line(item))
	}
	return Result{Text: cut(strings.Join(lines, "\n"))}, nil
}

// line describes a resource to the model in a list.
func (r Resource) line() string { return described(r.URI, r.Name, r.MIMEType, r.Description) }

func (p Prompt) line() string {
	var args []string
	for _, a := range p.Arguments {
		text := a.Name
		if a.Required {
			text += " (required)"
		}
		args = append(args, text)
	}
	with := ""
	if len(args) > 0 {
		with = "arguments " + strings.Join(args, ", ")
	}
	return described(p.Name, with, p.Description)
}

func described(name string, facts ...string) string {
	facts = slices.DeleteFunc(facts, func(f string) bool { return f == "" || f == name })
	return strings.Join(append([]string{name}, facts...), " · ")
}
