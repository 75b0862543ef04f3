package web_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/mcpservers/hosting"
	"agent-stop-and-go/mcpservers/web"
	"agent-stop-and-go/mcpservers/web/search"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// site answers searches of SearXNG, and has pages.
func site(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/search":
			if r.URL.Query().Get("q") == "fail" {
				http.Error(w, "down", http.StatusBadGateway)
				return
			}
			fmt.Fprintf(w, `{"results":[{"title":"A & B","url":"https://example.com/","content":"%s"},{"title":"C","url":"https://example.com/c","content":""}]}`, strings.Repeat("text ", 100))
		case "/tavily/search":
			fmt.Fprint(w, `{"results":[{"title":"T","url":"https://example.com/t","content":"from tavily"}]}`)
		case "/long":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w, `<title>Long</title><p><a href="/one">one</a> %s <a href="/two">two</a>`, strings.Repeat("ä ", 1000))
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func newServer(t *testing.T, c web.Config) *server.MCPServer {
	t.Helper()
	w, err := web.New(c, func(string) string { return "key" }, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	s := server.NewMCPServer(web.Name, web.Version)
	w.Register(s)
	return s
}

func config(at string) web.Config {
	c := web.DefaultConfig()
	c.Search = []search.Config{{Provider: search.SearXNG, URL: at}, {Provider: search.Tavily, URL: at + "/tavily"}}
	c.PrivateHosts = []string{"127.0.0.1"}
	return c
}

func call(t *testing.T, s *server.MCPServer, tool, arguments string) (text string, structured map[string]any, failed bool) {
	t.Helper()
	var request mcp.CallToolRequest
	request.Params.Name = tool
	if err := json.Unmarshal([]byte(arguments), &request.Params.Arguments); err != nil {
		t.Fatal(err)
	}
	result, err := s.GetTool(tool).Handler(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if !result.IsError {
		data, err := json.Marshal(result.StructuredContent)
		if err != nil || json.Unmarshal(data, &structured) != nil {
			t.Fatal(err)
		}
	}
	return result.Content[0].(mcp.TextContent).Text, structured, result.IsError
}

func TestSearchNumbersResults(t *testing.T) {
	s := newServer(t, config(site(t)))
	want := "1. A & B\n   https://example.com/\n   " + strings.TrimSpace(strings.Repeat("text ", 40)) + "…\n2. C\n   https://example.com/c"
	text, structured, failed := call(t, s, "search", `{"query":"x"}`)
	if text != want || failed || structured["provider"] != "searxng" || len(structured["results"].([]any)) != 2 {
		t.Errorf("%t %q %v", failed, text, structured)
	}
	if text, _, _ := call(t, s, "search", `{"query":"x","max_results":1}`); strings.Contains(text, "2. ") {
		t.Errorf("%q", text)
	}
	if text, structured, failed := call(t, s, "search", `{"query":"fail"}`); failed || structured["provider"] != "tavily" || !strings.Contains(text, "from tavily") {
		t.Errorf("the next provider: %t %q", failed, text)
	}
	if text, _, failed := call(t, s, "search", `{"query":"fail","provider":"searxng"}`); !failed || !strings.Contains(text, "searxng: 502 Bad Gateway") {
		t.Errorf("one provider: %t %q", failed, text)
	}
}

func TestAProviderThatHangsLeavesTimeForTheNext(t *testing.T) {
	at := site(t)
	hangs := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(hangs.Close)
	c := config(at)
	c.Search[0].URL, c.Timeout = hangs.URL, hosting.Span(2*time.Second)
	if text, structured, failed := call(t, newServer(t, c), "search", `{"query":"x"}`); failed || structured["provider"] != "tavily" {
		t.Errorf("%t %q", failed, text)
	}
}

func TestExtractReadsAPageInParts(t *testing.T) {
	at := site(t)
	s := newServer(t, config(at))
	text, structured, failed := call(t, s, "extract", fmt.Sprintf(`{"url":"%s/long","max_length":100}`, at))
	if failed || !strings.HasPrefix(text, "Long\n"+at+"/long\n\none [1] ä ä") || !strings.Contains(text, "\nLinks:\n[1] "+at+"/one\n\n(characters 0 to 100 of 2015; go on with start 100)") || structured["next"] != float64(100) {
		t.Errorf("%t %s", failed, text)
	}
	text, structured, _ = call(t, s, "extract", fmt.Sprintf(`{"url":"%s/long","start":2000}`, at))
	if !strings.HasSuffix(text, "two [2]\n\nLinks:\n[2] "+at+"/two") || structured["next"] != nil {
		t.Errorf("%s", text)
	}
}

func TestMistakesOfCallsAreResults(t *testing.T) {
	at := site(t)
	s := newServer(t, config(at))
	for _, test := range [][3]string{
		{"search", `{}`, "query is required"}, {"search", `{"query":"x","max_results":21}`, "max_results must be 1 to 20"}, {"search", `{"query":"x","provider":"bing"}`, "one of searxng, tavily"},
		{"search", `{"query":"` + strings.Repeat("x", 1001) + `"}`, "at most 1000"}, {"search", `{"q":"x"}`, `unknown argument "q"`},
		{"extract", `{"url":"file:///etc/passwd"}`, "must begin with http"}, {"extract", `{"url":"http://169.254.169.254/"}`, "not an address of the Internet"}, {"extract", `{"url":"http://10.0.0.1/"}`, "not an address of the Internet"},
		{"extract", `{"url":"` + at + `/none"}`, "404 Not Found"}, {"extract", `{"url":"` + at + `/long","start":99999}`, "start must be less than"}, {"extract", `{"url":"` + at + `","max_length":0}`, "max_length must be"},
		{"extract", `{"url":"http://` + strings.Repeat("x", 9000) + `"}`, "at most 8192 bytes"}, {"extract", `{"url":" %zz"}`, "malformed"}, {"extract", `{"url":"x","whole":1}`, "whole must be"},
	} {
		if text, _, failed := call(t, s, test[0], test[1]); !failed || !strings.Contains(text, test[2]) {
			t.Errorf("%.100s: %t %s", test[1], failed, text)
		}
	}
}

func TestToolsOnlyReadAndReachOut(t *testing.T) {
	for _, tool := range newServer(t, config("http://127.0.0.1:1")).ListTools() {
		a := tool.Tool.Annotations
		if !*a.ReadOnlyHint || *a.DestructiveHint || !*a.IdempotentHint || !*a.OpenWorldHint || tool.Tool.OutputSchema.Type != "object" {
			t.Errorf("%s: %+v", tool.Tool.Name, a)
		}
	}
	one := config("http://127.0.0.1:1")
	one.Search = one.Search[:1]
	if _, ok := newServer(t, one).GetTool("search").Tool.InputSchema.Properties["provider"]; ok {
		t.Error("there is a choice of one provider")
	}
}

func TestConfigurations(t *testing.T) {
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "web.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	c, err := web.LoadConfig(write("search: [{provider: tavily, depth: advanced}, {provider: duckduckgo}]\nprivate_hosts: [10.0.0.0/8]\ntimeout: 5s\n"))
	if err != nil || len(c.Search) != 2 || c.Port != 8093 || c.MaxPage != 5<<20 {
		t.Errorf("%+v %v", c, err)
	}
	for text, want := range map[string]string{
		"serach: []":                                 `unknown key "serach"`,
		"search: [{name: x}]":                        "allowed: provider, url, key_env, model, depth",
		"search: [{provider: x}]":                    `search[0]: provider "x" is unknown`,
		"search: [{provider: xai}, {provider: xai}]": "search[1]: xai is listed twice",
		"private_hosts: ['http://x']":                "no name, address or network",
		"max_page: 1":                                "max_page 1 is out of range",
		"timeout: 1h":                                "timeout 1h0m0s is out of range",
	} {
		if _, err := web.LoadConfig(write(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	c.Search = []search.Config{{Provider: search.Tavily}}
	if _, err := web.New(c, func(string) string { return "" }, slog.New(slog.NewTextHandler(io.Discard, nil))); err == nil || !strings.Contains(err.Error(), "TAVILY_API_KEY is empty") {
		t.Error(err)
	}
}
