package main

import (
	"context"
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

func TestTheClientDoesWhatASuiteExpects(t *testing.T) {
	m := server.NewMCPServer("suite", "1")
	m.AddTool(mcp.NewTool("add_numbers", mcp.WithNumber("a"), mcp.WithNumber("b")), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(fmt.Sprint(r.GetFloat("a", 0) + r.GetFloat("b", 0))), nil
	})
	m.AddTool(mcp.NewTool("test_one"), said("one"))
	m.AddTool(mcp.NewTool("other"), said("other"))
	web, events := httptest.NewServer(server.NewStreamableHTTPServer(m)), httptest.NewServer(server.NewSSEServer(m))
	defer web.Close()
	defer events.Close()
	tests := map[string]struct {
		args      []string
		want, not string
	}{
		"http":       {[]string{web.URL}, "test_one: one\n", "other: other"},
		"sse":        {[]string{"-sse", events.URL + "/sse"}, "add_numbers: 8\n", "other: other"},
		"one of all": {[]string{"-call", "other", "-list", web.URL}, "other: other\n", "test_one: one"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			if err := run(t.Context(), tt.args, noEnv, &out, io.Discard); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(out.String(), tt.want) || strings.Contains(out.String(), tt.not) {
				t.Errorf("got %s", out.String())
			}
		})
	}
	for _, args := range [][]string{nil, {"http://127.0.0.1:1"}, {"-call", "nothing", web.URL}} {
		if err := run(t.Context(), args, noEnv, io.Discard, io.Discard); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}

func noEnv(string) string { return "" }

func said(text string) server.ToolHandlerFunc {
	return func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(text), nil
	}
}
