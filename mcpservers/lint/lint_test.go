package lint_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/mcpservers/hosting/typed"
	"agent-stop-and-go/mcpservers/lint"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

func faults(t *testing.T, s *server.MCPServer) []lint.Fault {
	t.Helper()
	c, err := client.NewInProcessClient(s)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	var hello mcp.InitializeRequest
	hello.Params.ProtocolVersion = "2025-11-25"
	if _, err := c.Initialize(t.Context(), hello); err != nil {
		t.Fatal(err)
	}
	found, err := lint.Server(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// tool makes a tool of JSON.
func tool(t *testing.T, text string) server.ServerTool {
	t.Helper()
	var made mcp.Tool
	if err := json.Unmarshal([]byte(text), &made); err != nil {
		t.Fatal(err)
	}
	return server.ServerTool{Tool: made, Handler: func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, nil }}
}

func TestFaultsAreTold(t *testing.T) {
	object := `"inputSchema":{"type":"object","additionalProperties":false}`
	reads := `"description":"d","annotations":{"readOnlyHint":true}`
	for text, want := range map[string]string{
		`{"name":"a","description":"d",` + object + `}`:                                                                         "error hints a: it has no readOnlyHint",
		`{"name":"a","description":"d","annotations":{"readOnlyHint":false},` + object + `}`:                                    "error hints a: it has no destructiveHint",
		`{"name":"a","description":"d","annotations":{"readOnlyHint":true,"destructiveHint":true},` + object + `}`:              "error hints a: it is read-only and destructive",
		`{"name":"drop_table",` + reads + `,` + object + `}`:                                                                    "error hints drop_table: it is read-only, and its name",
		`{"name":"list_all","description":"d","annotations":{"destructiveHint":true},` + object + `}`:                           "warning hints list_all: it is destructive, and its name",
		`{"name":"a b",` + reads + `,` + object + `}`:                                                                           "error name a b: interfaces",
		`{"name":"a",` + reads + `,"inputSchema":{"type":"string"}}`:                                                            "error schema a: the schema of the arguments is not of the type object",
		`{"name":"a",` + reads + `,"inputSchema":{"type":"object","properties":{"x":{"$ref":"http://x/y","description":"d"}}}}`: "error schema a: a $ref leads to another document",
		`{"name":"a",` + reads + `,"inputSchema":{"type":"object","properties":{"x":` + strings.Repeat(`{"type":"array","items":`, 6) + `{"type":"string"}` + strings.Repeat("}", 6) + `}}}`: "warning schema a: objects are nested 7 deep",
		`{"name":"a",` + reads + `,"inputSchema":{"type":"object","properties":{"x":{"type":"object","description":"d"}}}}`:                                                                  "warning schema a: argument x is an object of unknown members",
		`{"name":"a",` + reads + `,"inputSchema":{"type":"object","properties":{"x":{"type":"string"}}}}`:                                                                                    "warning schema a: argument x has no description",
		`{"name":"a","annotations":{"readOnlyHint":true},` + object + `}`:                                                                                                                    "error text a: there is no description",
		`{"name":"a",` + reads + `,"inputSchema":{"type":"object","required":["x"]}}`:                                                                                                        `error schema a: "x" is required and not described`,
		`{"name":"a",` + reads + `,"inputSchema":{"type":"object","properties":{"x":{"type":"string","description":"d"}}}}`:                                                                  "warning schema a: additionalProperties is not false",
		`{"name":"a",` + reads + `,"inputSchema":{"type":"object","additionalProperties":false,"properties":{"x":{"type":"array","description":"d"}}}}`:                                      "error schema a: argument x is a list without items",
		`{"name":"a",` + reads + `,"inputSchema":{"type":"object","additionalProperties":false,"properties":{"x":{"type":"integer","description":"d","default":"5"}}}}`:                      "error schema a: argument x: its default",
		`{"name":"a",` + reads + `,"inputSchema":{"type":"object","additionalProperties":false,"properties":{"x":{"type":["string","null"],"description":"d"}}}}`:                            "warning schema a: argument x has several types",
		`{"name":"a",` + reads + `,"inputSchema":{"type":"object","additionalProperties":false,"properties":{"x":{}}}}`:                                                                      "warning schema a: argument x has no type",
		`{"name":"a",` + reads + `,"inputSchema":{"type":"object","additionalProperties":false,"properties":{"x y":{"type":"string","description":"d"}}}}`:                                   `error schema a: argument "x y"`,
	} {
		s := server.NewMCPServer("t", "1", server.WithToolCapabilities(false))
		s.AddTools(tool(t, text))
		var told []string
		for _, f := range faults(t, s) {
			told = append(told, fmt.Sprintf("%s %s %s: %s", f.Severity, f.Kind, f.Tool, f.Text))
		}
		if !slices.ContainsFunc(told, func(line string) bool { return strings.HasPrefix(line, want) }) {
			t.Errorf("%s\ngot  %q\nwant %s", text, told, want)
		}
	}
}

type input struct {
	Word string `json:"word" jsonschema:"a word"`
}

func TestAGoodServerHasNoFaults(t *testing.T) {
	s := typed.NewServer("t", "1")
	do := func(context.Context, input) (input, error) { return input{}, nil }
	typed.Add(s, typed.Tool{Name: "words_find", Description: "Find words", Effect: typed.Reads}, do)
	typed.Add(s, typed.Tool{Name: "words_delete", Description: "Delete a word", Effect: typed.Destroys}, do)
	if found := faults(t, s); len(found) > 0 {
		t.Errorf("%+v", found)
	}
}

func TestSizesAreTold(t *testing.T) {
	const schema = `","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object","additionalProperties":false}}`
	many := func(n, size int) *server.MCPServer {
		s := server.NewMCPServer("s", "1", server.WithToolCapabilities(false))
		for i := range n {
			s.AddTools(tool(t, fmt.Sprintf(`{"name":"t%d","description":"%s`, i, strings.Repeat("d", size))+schema))
		}
		return s
	}
	for want, s := range map[string]*server.MCPServer{
		"warning list : there are no tools":             many(0, 0),
		"warning size : there are 129 tools":            many(129, 1),
		"warning size : all definitions have ":          many(100, 700),
		"warning size t0: its definition has ":          many(1, 9000),
		"warning text t0: its description has 3000 byt": many(1, 3000),
	} {
		var told []string
		for _, f := range faults(t, s) {
			told = append(told, fmt.Sprintf("%s %s %s: %s", f.Severity, f.Kind, f.Tool, f.Text))
		}
		if !slices.ContainsFunc(told, func(line string) bool { return strings.HasPrefix(line, want) }) {
			t.Errorf("no %q in %q", want, told)
		}
	}
}

func TestSlowAnswersAndSameNamesAreTold(t *testing.T) {
	hooks := &server.Hooks{}
	hooks.AddBeforeListTools(func(context.Context, any, *mcp.ListToolsRequest) { time.Sleep(1100 * time.Millisecond) })
	s := server.NewMCPServer("t", "1", server.WithToolCapabilities(false), server.WithHooks(hooks))
	for _, name := range []string{"a", "A"} {
		s.AddTools(tool(t, `{"name":"`+name+`","description":"d","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"}}`))
	}
	kinds := map[string]bool{}
	for _, f := range faults(t, s) {
		kinds[f.Kind] = true
	}
	if !kinds["time"] || !kinds["name"] {
		t.Errorf("%v", kinds)
	}
}
