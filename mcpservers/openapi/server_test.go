package openapi_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"agent-stop-and-go/mcpservers/hosting"
	"agent-stop-and-go/mcpservers/openapi"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

const key = "secret-key-4711"

// shop is an API that counts changes.
type shop struct {
	*httptest.Server
	changes atomic.Int32
	keys    chan string
	tokens  atomic.Int32
}

func newShop(t *testing.T, elsewhere string) *shop {
	s := &shop{keys: make(chan string, 100)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/token" {
			id, secret, _ := r.BasicAuth()
			if id != "client" || secret != key || r.FormValue("scope") != "read" {
				http.Error(w, `{"error":"invalid_client"}`, http.StatusUnauthorized)
				return
			}
			s.tokens.Add(1)
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"access_token":"token-1","token_type":"Bearer","expires_in":3600}`)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			s.changes.Add(1)
			s.keys <- r.Header.Get("Idempotency-Key")
		}
		w.Header().Set("Content-Type", "application/json")
		switch id := strings.TrimPrefix(r.URL.Path, "/v1/orders/"); id {
		case "1":
			w.Header().Set("ETag", `"e1"`)
			fmt.Fprintf(w, `{"id":1,"key":%q,"query":%q,"cookie":%q,"authorization":%q}`, r.Header.Get("X-Key"), r.URL.RawQuery, r.Header.Get("Cookie"), r.Header.Get("Authorization"))
		case "2":
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprintf(w, `{"error":"no order 2 for %s"}`, key)
		case "3":
			w.Header().Set("Content-Type", "image/png")
			_, _ = w.Write([]byte("\x89PNG\xff"))
		case "4":
			w.Header().Set("Content-Type", "text/plain")
			fmt.Fprint(w, strings.Repeat("é", 2000))
		case "5":
			http.Redirect(w, r, elsewhere, http.StatusFound)
		case "6":
			http.Redirect(w, r, "/v1/orders/1", http.StatusTemporaryRedirect)
		case "7":
			conn, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				_ = conn.Close()
			}
		case "8":
			w.WriteHeader(http.StatusBadGateway)
		case "9":
			w.WriteHeader(http.StatusNoContent)
		case "10":
			select {
			case <-r.Context().Done():
			case <-time.After(5 * time.Second):
			}
		case "11":
			w.Header().Set("Content-Type", "text/plain; charset=iso-8859-1")
			fmt.Fprint(w, "caf\xe9")
		default:
			w.WriteHeader(http.StatusCreated)
			w.Header().Set("Location", "/v1/orders/12")
			_, _ = io.Copy(w, r.Body)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// document describes the shop. Its security is that of an alternative of SECURITY.
const document = `
openapi: 3.1.0
info: {title: Shop, version: '1'}
servers: [{url: 'BASE/{version}', variables: {version: {default: v1}}}]
security: SECURITY
paths:
  /orders/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
    get: {operationId: get_order, summary: Get an order, tags: [orders], responses: {}}
    head: {operationId: head_order, responses: {}}
    put: {operationId: put_order, summary: Replace an order, requestBody: {content: {application/json: {}}}, responses: {}}
    delete: {operationId: delete_order, summary: Delete an order, responses: {}}
  /orders:
    post:
      operationId: add_order
      summary: Add an order
      parameters: [{name: Idempotency-Key, in: header, schema: {type: string}}]
      requestBody: {required: true, content: {application/json: {schema: {type: object, properties: {item: {type: string}}, required: [item]}}}}
      responses: {}
components:
  securitySchemes:
    header: {type: apiKey, in: header, name: X-Key}
    query: {type: apiKey, in: query, name: key}
    cookie: {type: apiKey, in: cookie, name: sid}
    basic: {type: http, scheme: basic}
    bearer: {type: http, scheme: bearer}
    oauth: {type: oauth2, flows: {clientCredentials: {tokenUrl: 'BASE/token', scopes: {read: r}}}}
`

func newServer(t *testing.T, base, security string, change func(*openapi.Config)) (*server.MCPServer, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shop.yaml")
	text := strings.NewReplacer("BASE", base, "SECURITY", security).Replace(document)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c := openapi.DefaultConfig()
	c.API, c.MaxResponse = path, 1024
	if change != nil {
		change(&c)
	}
	env := map[string]string{"KEY": key, "PAIR": "client:" + key, "SHORT": "x"}
	o, err := openapi.New(t.Context(), c, func(name string) string { return env[name] }, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	s := server.NewMCPServer(openapi.Name, openapi.Version)
	return s, o.Register(s)
}

// call returns the text of a result, and whether it is an error; unknown is the error of the protocol.
func call(t *testing.T, s *server.MCPServer, tool, callKey, arguments string) (text string, failed bool, unknown error) {
	t.Helper()
	var request mcp.CallToolRequest
	request.Params.Name = tool
	if err := json.Unmarshal([]byte(arguments), &request.Params.Arguments); err != nil {
		t.Fatal(err)
	}
	if callKey != "" {
		request.Params.Meta = &mcp.Meta{AdditionalFields: map[string]any{hosting.IdempotencyKey: callKey}}
	}
	found := s.GetTool(tool)
	if found == nil {
		t.Fatalf("there is no tool %s", tool)
	}
	result, err := found.Handler(t.Context(), request)
	if err != nil {
		return "", true, err
	}
	return result.Content[0].(mcp.TextContent).Text, result.IsError, nil
}

func TestCallsOfAnAPI(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("another host was asked, with %v", r.Header) }))
	defer elsewhere.Close()
	api := newShop(t, elsewhere.URL)
	s, err := newServer(t, api.URL, "[{header: []}]", func(c *openapi.Config) {
		c.Credentials, c.Timeout = map[string]string{"header": "KEY"}, hosting.Span(500*time.Millisecond)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		tool, arguments, want string
		failed                bool
	}{
		{"get_order", `{"id":1}`, "ETag: \"e1\"\n{\"id\":1,\"key\":\"…\",\"query\":\"\",\"cookie\":\"\",\"authorization\":\"\"}", false},
		{"get_order", `{"id":2}`, "404 Not Found\n{\"error\":\"no order 2 for …\"}", true},
		{"get_order", `{"id":3}`, "(5 bytes of image/png, which is no text)", false},
		{"get_order", `{"id":4}`, strings.Repeat("é", 512) + "\n(cut after 1024 bytes; ask for less, such as with a filter or a page)", false},
		{"get_order", `{"id":5}`, "302 Found\nLocation: " + elsewhere.URL, true},
		{"get_order", `{"id":6}`, "ETag: \"e1\"\n{\"id\":1,", false},
		{"get_order", `{"id":7}`, "the API does not answer: EOF", true},
		{"get_order", `{"id":8}`, "502 Bad Gateway", true},
		{"get_order", `{"id":10}`, "the API does not answer: the API took too long", true},
		{"get_order", `{"id":11}`, "café", false},
		{"get_order", `{"id":"x"}`, "arguments: ", true},
		{"get_order", `{}`, "arguments: ", true},
		{"head_order", `{"id":1}`, "200 OK\nETag: \"e1\"\nContent-Type: application/json", false},
		{"delete_order", `{"id":9}`, "204 No Content", false},
		{"delete_order", `{"id":2}`, "404 Not Found", true},
		{"put_order", `{"id":6,"body":{}}`, "307 Temporary Redirect\nLocation: /v1/orders/1", true},
		{"add_order", `{"body":{"item":"x"}}`, "201 Created\n{\"item\":\"x\"}", false},
	} {
		text, failed, unknown := call(t, s, test.tool, "", test.arguments)
		if !strings.HasPrefix(text, test.want) || failed != test.failed || unknown != nil {
			t.Errorf("%s %s: %t %v %q", test.tool, test.arguments, failed, unknown, text)
		}
	}
}

// Of a change that was sent, and of which nothing is known, nothing is said but that.
func TestUnknownOutcomesAreErrorsOfTheProtocol(t *testing.T) {
	api := newShop(t, "")
	s, err := newServer(t, api.URL, "[]", func(c *openapi.Config) { c.Timeout = hosting.Span(300 * time.Millisecond) })
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"7", "8", "10"} {
		if _, _, unknown := call(t, s, "delete_order", "", `{"id":`+id+`}`); unknown == nil || !strings.Contains(unknown.Error(), "it is not known whether the call was made") {
			t.Errorf("%s: %v", id, unknown)
		}
	}
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = nobody.Close()
	if s, err = newServer(t, "http://"+nobody.Addr().String(), "[]", nil); err != nil {
		t.Fatal(err)
	}
	if text, failed, unknown := call(t, s, "delete_order", "", `{"id":1}`); !failed || unknown != nil || !strings.Contains(text, "does not answer") {
		t.Errorf("nothing was sent: %q %v", text, unknown)
	}
}

func TestKeysOfCalls(t *testing.T) {
	api := newShop(t, "")
	s, err := newServer(t, api.URL, "[]", nil)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, k := range []string{"k1", "k1", "k2", ""} {
		text, failed, unknown := call(t, s, "add_order", k, `{"body":{"item":"x"}}`)
		if failed || unknown != nil {
			t.Fatal(text, unknown)
		}
		texts = append(texts, text)
	}
	if api.changes.Load() != 3 || texts[0] != texts[1] {
		t.Errorf("%d changes, %q", api.changes.Load(), texts)
	}
	first, second, random := <-api.keys, <-api.keys, <-api.keys
	if len(first) != 64 || first == second || random == "" || len(random) == 64 {
		t.Errorf("%s %s %s", first, second, random)
	}
	if text, failed, _ := call(t, s, "add_order", "k1", `{"body":{"item":"y"}}`); !failed || !strings.Contains(text, "already used") {
		t.Errorf("%q", text)
	}
	if text, _, _ := call(t, s, "delete_order", "k3", `{"id":9}`); text != "204 No Content" || <-api.keys != "" {
		t.Errorf("an operation without the header: %q", text)
	}
}

func TestCredentials(t *testing.T) {
	api := newShop(t, "")
	for _, test := range []struct {
		security    string
		credentials map[string]string
		want        string
	}{
		{"[{header: []}]", map[string]string{"header": "KEY"}, `"key":"…"`},
		{"[{query: []}]", map[string]string{"query": "KEY"}, `"query":"key=…"`},
		{"[{cookie: []}]", map[string]string{"cookie": "KEY"}, `"cookie":"sid=…"`},
		{"[{basic: []}]", map[string]string{"basic": "PAIR"}, `"authorization":"Basic …"`},
		{"[{bearer: []}]", map[string]string{"bearer": "KEY"}, `"authorization":"Bearer …"`},
		{"[{oauth: [read]}]", map[string]string{"oauth": "PAIR"}, `"authorization":"Bearer …"`},
		{"[{bearer: [], header: []}, {query: [], cookie: []}]", map[string]string{"bearer": "KEY", "query": "KEY", "cookie": "KEY"}, `"key":"","query":"key=…","cookie":"sid=…","authorization":""`},
		{"[{bearer: []}, {}]", nil, `"authorization":""`},
		{"[]", map[string]string{"bearer": "KEY"}, `"authorization":""`},
		{"[{bearer: []}, {basic: [], header: []}]", nil, "the operation needs credentials for bearer, or basic and header"},
		{"[{oauth: [write]}]", map[string]string{"oauth": "PAIR"}, "get a token for oauth: "},
	} {
		s, err := newServer(t, api.URL, test.security, func(c *openapi.Config) { c.Credentials = test.credentials })
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if text, _, _ := call(t, s, "get_order", "", `{"id":1}`); !strings.Contains(text, test.want) || strings.Contains(text, key) {
				t.Errorf("%s: %s", test.security, text)
			}
		}
	}
	if n := api.tokens.Load(); n != 1 {
		t.Errorf("%d tokens were got", n)
	}
	for want, credentials := range map[string]map[string]string{
		`no security scheme "none"`: {"none": "KEY"}, "NO_SUCH is empty": {"header": "NO_SUCH"}, "must have two parts": {"basic": "SHORT"}, "is not the name": {"header": "my key"},
	} {
		if _, err := newServer(t, api.URL, "[]", func(c *openapi.Config) { c.Credentials = credentials }); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", credentials, err)
		}
	}
}

func TestManyOperationsAreFoundAndCalled(t *testing.T) {
	api := newShop(t, "")
	s, err := newServer(t, api.URL, "[]", func(c *openapi.Config) { c.MaxTools = 4 })
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][3]bool{"search_operations": {true, false, true}, "describe_operation": {true, false, true}, "call_read_operation": {true, false, true}, "call_write_operation": {false, true, false}} {
		a := s.GetTool(name).Tool.Annotations
		if got := [3]bool{*a.ReadOnlyHint, *a.DestructiveHint, *a.IdempotentHint}; got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	arguments := s.GetTool("call_read_operation").Tool.InputSchema.Properties["arguments"].(map[string]any)
	if arguments["additionalProperties"] != true { // a model that takes the schema at its word has to be able to fill it
		t.Errorf("%v", arguments)
	}
	for _, test := range []struct {
		tool, arguments, want string
		failed                bool
	}{
		{"search_operations", `{"query":"delete orders"}`, "delete_order (changes; DELETE /orders/{id}): Delete an order\n", false},
		{"search_operations", `{"limit":1}`, "add_order (changes; POST /orders): Add an order\n(4 more; use other words)", false},
		{"search_operations", `{"query":"invoice"}`, "(no operation has these words)", false},
		{"search_operations", `{"limit":0}`, "limit must be 1 to 100", true},
		{"describe_operation", `{"operation":"get_order"}`, "Get an order\n\nGET /orders/{id}\n\nCall it with call_read_operation. Schema of arguments:\n{", false},
		{"describe_operation", `{"operation":"none"}`, `there is no operation "none"`, true},
		{"call_read_operation", `{"operation":"get_order","arguments":{"id":11}}`, "café", false},
		{"call_read_operation", `{"operation":"delete_order","arguments":{"id":9}}`, "use call_write_operation", true},
		{"call_write_operation", `{"operation":"get_order","arguments":{"id":1}}`, "use call_read_operation", true},
		{"call_write_operation", `{"operation":"delete_order","arguments":{"id":9}}`, "204 No Content", false},
		{"call_write_operation", `{"operation":"delete_order"}`, "arguments: ", true},
		{"call_write_operation", `{"operation":"add_order","arguments":[]}`, "must be a JSON object", true},
	} {
		text, failed, unknown := call(t, s, test.tool, "", test.arguments)
		if !strings.Contains(text, test.want) || failed != test.failed || unknown != nil {
			t.Errorf("%s %s: %t %q %v", test.tool, test.arguments, failed, text, unknown)
		}
	}
	if api.changes.Load() != 1 {
		t.Errorf("%d changes", api.changes.Load())
	}
	reading, err := newServer(t, api.URL, "[]", func(c *openapi.Config) { c.MaxTools = 0; c.Selection.ReadOnly = true })
	if err != nil || reading.GetTool("call_write_operation") != nil {
		t.Errorf("an API that is only read has a tool to change it: %v", err)
	}
}

func TestToolsHaveTheHintsOfTheirMethod(t *testing.T) {
	s, err := newServer(t, "http://127.0.0.1:1", "[]", nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][4]bool{"get_order": {true, false, true, true}, "put_order": {false, true, true, true}, "delete_order": {false, true, true, true}, "add_order": {false, true, false, true}} {
		tool := s.GetTool(name).Tool
		a := tool.Annotations
		if got := [4]bool{*a.ReadOnlyHint, *a.DestructiveHint, *a.IdempotentHint, *a.OpenWorldHint}; got != want || tool.Description == "" || a.Title == "" {
			t.Errorf("%s: %v %+v", name, got, tool)
		}
	}
}

func TestConfigurations(t *testing.T) {
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "c.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	c, err := openapi.LoadConfig(write("api: x.yaml\ninclude: {tags: [a], paths: ['/b/**']}\nexclude: {operations: [c]}\nread_only: true\ncredentials: {k: KEY}\n"))
	if err != nil || c.Port != 8094 || c.MaxTools != 40 || !c.Selection.ReadOnly || c.Include.Paths[0] != "/b/**" || c.Exclude.Operations[0] != "c" {
		t.Errorf("%+v %v", c, err)
	}
	for text, want := range map[string]string{
		"port: 1": "no API", "api: x\nincludes: {}": `unknown key "includes", allowed: host`, "api: x\ninclude: {tag: [a]}": "allowed: tags, operations, paths", "api: x\nmax_tools: -1": "max_tools",
		"api: x\nbase_url: example.com": "base_url must be", "api: x\ntimeout: 1h": "timeout", "api: x\nmax_response: 1": "max_response", "api: x\ninclude: {paths: ['[']}": "malformed", "api: x\ncredentials: {a: 'b c'}": "credentials",
	} {
		if _, err := openapi.LoadConfig(write(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
