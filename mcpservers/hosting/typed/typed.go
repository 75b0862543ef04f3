package typed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"agent-stop-and-go/mcpservers/hosting"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// Effect is what a tool does to the world. Agents ask a person before a call of a tool that Changes or
// Destroys.
type Effect int

// Effects. The zero value is none of them, so it cannot be forgotten.
const (
	Reads    Effect = iota + 1 // changes nothing
	Adds                       // adds something; twice is more than once
	Sets                       // adds or sets something; twice is the same as once
	Changes                    // replaces or removes something; twice is not the same as once
	Destroys                   // replaces or removes something; twice is the same as once
)

func (e Effect) hints() (hosting.Hints, bool) {
	hints := map[Effect]hosting.Hints{
		Reads: {ReadOnly: true, Idempotent: true}, Adds: {}, Sets: {Idempotent: true},
		Changes: {Destructive: true}, Destroys: {Destructive: true, Idempotent: true},
	}
	h, ok := hints[e]
	return h, ok
}

// Tool describes a tool for clients.
type Tool struct {
	Name        string
	Title       string // for people; "": Name
	Description string
	Effect      Effect
	OpenWorld   bool // it reaches things outside of the server
}

// NewServer returns a server with what Add needs: strict schemas, idempotency keys, and errors instead of
// panics.
func NewServer(name, version string, options ...server.ServerOption) *server.MCPServer {
	return server.NewMCPServer(name, version, append([]server.ServerOption{
		server.WithToolCapabilities(false), server.WithStrictInputSchemaDefault(), server.WithInputSchemaValidation(),
		server.WithRecovery(), server.WithResourceRecovery(),
	}, options...)...)
}

// Add adds a tool. In and Out are structs; their fields have json tags, and jsonschema tags with a
// description. It panics for a tool without name, description or effect, which is a mistake of the program.
func Add[In, Out any](s *server.MCPServer, t Tool, do func(context.Context, In) (Out, error)) {
	hints, ok := t.Effect.hints()
	if t.Name == "" || t.Description == "" || !ok {
		panic(fmt.Sprintf("typed: the tool %q needs a name, a description and an effect", t.Name))
	}
	if s.GetTool(t.Name) != nil {
		panic(fmt.Sprintf("typed: there is a tool %q already", t.Name))
	}
	title := t.Title
	if title == "" {
		title = t.Name
	}
	tool := mcp.NewTool(t.Name, mcp.WithDescription(t.Description), hints.Annotation(title), mcp.WithInputSchema[In](), hosting.ResultOf[Out]())
	if tool.RawInputSchema == nil || len(tool.OutputSchema.Properties) == 0 && tool.OutputSchema.Type != "object" {
		panic(fmt.Sprintf("typed: the tool %q needs structs as input and output", t.Name))
	}
	tool.Annotations.OpenWorldHint = &t.OpenWorld
	results := new(hosting.Results)
	s.AddTool(tool, func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		result, err := call(ctx, t, results, request, do)
		if err != nil {
			return mcp.NewToolResultError(err.Error()), nil
		}
		text, err := json.Marshal(result)
		if err != nil {
			return nil, fmt.Errorf("encode result: %w", err)
		}
		return mcp.NewToolResultStructured(json.RawMessage(text), string(text)), nil
	})
}

// call runs do, unless a call with the same key has run.
func call[In, Out any](ctx context.Context, t Tool, results *hosting.Results, request mcp.CallToolRequest, do func(context.Context, In) (Out, error)) (any, error) {
	raw := map[string]json.RawMessage{}
	if err := request.BindArguments(&raw); err != nil {
		return nil, errors.New("arguments must be a JSON object")
	}
	text, err := json.Marshal(raw)
	if err != nil {
		return nil, fmt.Errorf("encode arguments: %w", err)
	}
	var in In
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&in); err != nil {
		return nil, fmt.Errorf("arguments: %w", err)
	}
	if t.Effect == Reads {
		return do(ctx, in)
	}
	key, err := hosting.ParseCallKey(request, raw)
	if err != nil {
		return nil, err
	}
	return results.Do(ctx, t.Name, key, func() (any, error) { return do(ctx, in) })
}

// Combine adds the tools, prompts and resources of other servers to s, as they are now. A name that s
// has already is an error, and nothing is added.
func Combine(s *server.MCPServer, others ...*server.MCPServer) error {
	tools, prompts, resources := maps.Clone(s.ListTools()), maps.Clone(s.ListPrompts()), maps.Clone(s.ListResources())
	var errs []error
	for _, other := range others {
		tools, errs = join(tools, other.ListTools(), "tool", errs)
		prompts, errs = join(prompts, other.ListPrompts(), "prompt", errs)
		resources, errs = join(resources, other.ListResources(), "resource", errs)
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	s.SetTools(sorted(tools)...)
	s.SetPrompts(sorted(prompts)...)
	s.SetResources(sorted(resources)...)
	return nil
}

func join[T any](all, more map[string]*T, what string, errs []error) (map[string]*T, []error) {
	if all == nil {
		all = map[string]*T{}
	}
	for _, name := range slices.Sorted(maps.Keys(more)) {
		if all[name] != nil {
			errs = append(errs, fmt.Errorf("two servers have the %s %s", what, name))
		}
		all[name] = more[name]
	}
	return all, errs
}

func sorted[T any](all map[string]*T) (list []T) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, *all[name])
	}
	return list
}
