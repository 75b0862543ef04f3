package openapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"agent-stop-and-go/mcpservers/hosting"
	"agent-stop-and-go/mcpservers/hosting/excerpt"
	"agent-stop-and-go/mcpservers/openapi/api"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// looks are the hints of tools that look at the document.
var looks = hosting.Hints{ReadOnly: true, Idempotent: true}

const (
	manyFound = 20
	maxFound  = 100
)

func (s *Server) registerDiscovery(to *server.MCPServer) {
	operation := mcp.WithString("operation", mcp.Required(), mcp.MinLength(1), mcp.Description("Name of the operation, from search_operations"))
	arguments := mcp.WithObject("arguments", mcp.AdditionalProperties(true), mcp.Description("Arguments, as describe_operation says"))
	to.AddTool(mcp.NewTool("search_operations",
		mcp.WithDescription(fmt.Sprintf("Find operations of %s by words of their names, paths, tags and descriptions. There are %d; without a query the first ones are listed.", s.title, len(s.operations))),
		looks.Annotation("Find operations"),
		mcp.WithString("query", mcp.Description("Words to look for")),
		mcp.WithInteger("limit", mcp.Min(1), mcp.Max(maxFound), mcp.Description(fmt.Sprintf("Number of operations at most, %d if it is missing", manyFound))),
	), s.handler(s.search))
	to.AddTool(mcp.NewTool("describe_operation", mcp.WithDescription("Show what an operation does, and the JSON schema of its arguments."),
		looks.Annotation("Describe an operation"), operation), s.handler(s.describe))
	to.AddTool(mcp.NewTool("call_read_operation", mcp.WithDescription("Call an operation that only reads."),
		hosting.Hints{ReadOnly: true, Idempotent: true, OpenWorld: true}.Annotation("Call an operation that reads"), operation, arguments), s.handler(s.caller(true)))
	if slices.ContainsFunc(s.operations, func(o *api.Operation) bool { return !o.Hints.ReadOnly }) {
		to.AddTool(mcp.NewTool("call_write_operation", mcp.WithDescription("Call an operation that may change something. It is not for reading."),
			hosting.Hints{Destructive: true, OpenWorld: true}.Annotation("Call an operation that changes something"), operation, arguments), s.handler(s.caller(false)))
	}
}

// describe is the description of an operation for models.
func describe(o *api.Operation) string {
	text := []rune(o.Description)
	if len(text) > longDescription {
		text = append(text[:longDescription], '…')
	}
	return strings.TrimSpace(string(text) + "\n\n" + o.Method + " " + o.Path)
}

func titleOf(o *api.Operation) string { return excerpt.Line(cmp.Or(o.Summary, o.Name), 80) }

// line is an operation in a list.
func line(o *api.Operation) string {
	kind := "changes"
	if o.Hints.ReadOnly {
		kind = "reads"
	}
	text := fmt.Sprintf("%s (%s; %s %s)", o.Name, kind, o.Method, o.Path)
	if o.Summary != "" {
		text += ": " + excerpt.Line(o.Summary, 160)
	}
	return text
}

func (s *Server) search(_ context.Context, request mcp.CallToolRequest) (*outcome, error) {
	args, err := hosting.ParseArguments(request, "query", "limit")
	if err != nil {
		return nil, err
	}
	query, err := args.Text("query", "")
	if err != nil {
		return nil, err
	}
	limit, err := args.Integer("limit", manyFound)
	if err != nil || limit < 1 || limit > maxFound {
		return nil, cmp.Or(err, fmt.Errorf("limit must be 1 to %d", maxFound))
	}
	found := s.find(query)
	var out strings.Builder
	for i, o := range found {
		if int64(i) == limit {
			fmt.Fprintf(&out, "(%d more; use other words)\n", len(found)-i)
			break
		}
		out.WriteString(line(o) + "\n")
	}
	if len(found) == 0 {
		return &outcome{Text: "(no operation has these words)"}, nil
	}
	return &outcome{Text: strings.TrimSpace(out.String())}, nil
}

// find returns operations that have words of a query, those with most of them first. A word counts more in
// a name, path or tag than in a description.
func (s *Server) find(query string) []*api.Operation {
	words := strings.Fields(strings.ToLower(query))
	if len(words) == 0 {
		return s.operations
	}
	scores := map[*api.Operation]int{}
	var found []*api.Operation
	for _, o := range s.operations {
		head := strings.ToLower(o.Name + " " + o.Method + " " + o.Path + " " + strings.Join(o.Tags, " "))
		text := strings.ToLower(o.Description)
		for _, word := range words {
			if len(word) > 3 {
				word = strings.TrimSuffix(word, "s") // of a plural
			}
			if strings.Contains(head, word) {
				scores[o] += 3
			}
			if strings.Contains(text, word) {
				scores[o]++
			}
		}
		if scores[o] > 0 {
			found = append(found, o)
		}
	}
	slices.SortStableFunc(found, func(a, b *api.Operation) int { return scores[b] - scores[a] })
	return found
}

// named returns the operation of the argument operation.
func (s *Server) named(args hosting.Arguments) (*api.Operation, error) {
	name, err := args.Required("operation")
	if err != nil {
		return nil, err
	}
	for _, o := range s.operations {
		if o.Name == name {
			return o, nil
		}
	}
	return nil, fmt.Errorf("there is no operation %q: see search_operations", excerpt.Line(name, 100))
}

func (s *Server) describe(_ context.Context, request mcp.CallToolRequest) (*outcome, error) {
	args, err := hosting.ParseArguments(request, "operation")
	if err != nil {
		return nil, err
	}
	o, err := s.named(args)
	if err != nil {
		return nil, err
	}
	schema, err := json.MarshalIndent(o.Input, "", "  ")
	if err != nil {
		return nil, err
	}
	tool := "call_write_operation"
	if o.Hints.ReadOnly {
		tool = "call_read_operation"
	}
	return &outcome{Text: fmt.Sprintf("%s\n\nCall it with %s. Schema of arguments:\n%s", describe(o), tool, schema)}, nil
}

// caller calls operations that only read, or all others: so the hints of both tools are true.
func (s *Server) caller(reads bool) func(context.Context, mcp.CallToolRequest) (*outcome, error) {
	return func(ctx context.Context, request mcp.CallToolRequest) (*outcome, error) {
		args, err := hosting.ParseArguments(request, "operation", "arguments")
		if err != nil {
			return nil, err
		}
		o, err := s.named(args)
		if err != nil {
			return nil, err
		}
		switch {
		case reads && !o.Hints.ReadOnly:
			return nil, errors.New("the operation may change something: use call_write_operation")
		case !reads && o.Hints.ReadOnly:
			return nil, errors.New("the operation only reads: use call_read_operation")
		}
		return s.call(ctx, request, o, args["arguments"])
	}
}
