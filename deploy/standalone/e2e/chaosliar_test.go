package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// deeds records the calls that far ends have executed, by name, and the requests that they got.
type deeds struct {
	mu    sync.Mutex
	done  map[string]int
	asked []string
}

// note records a request to a far end or an executed call, as a line.
func (d *deeds) note(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, time.Now().UTC().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
}

// notes returns the lines with a name.
func (d *deeds) notes(name string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []string
	for _, line := range d.asked {
		if strings.Contains(line+" ", name+" ") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

func (d *deeds) add(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.done == nil {
		d.done = map[string]int{}
	}
	d.done[name]++
}

func (d *deeds) of(name string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.done[name]
}

// lie is a wrong or broken response of a far end.
type lie struct {
	status int
	body   string // NAME and SECRETS are replaced
	// sober: the response refuses the request, so the call is not executed.
	sober bool
	cut   bool // after the body
	late  bool
	to    string // Location
	kind  string // Content-Type, if not JSON
}

// lies are the responses that any far end may give. %s in a body is the ID of the request.
var lies = []lie{
	{status: 400, body: `{"error":"session not found SECRETS"}`}, {status: 400, body: "SECRETS", kind: "text/plain"},
	{status: 404, body: "SECRETS", kind: "text/plain"}, {status: 404, body: `{"jsonrpc":"2.0","id":%s,"error":{"code":-32001,"message":"Session not found"}}`, sober: true},
	{status: 302, to: "/elsewhere"}, {status: 307, to: ""}, {status: 308, to: "?again"},
	{status: 408}, {status: 409}, {status: 429, body: "SECRETS", kind: "text/plain"},
	{status: 500, body: "SECRETS", kind: "text/plain"}, {status: 502, body: "<html>"}, {status: 503},
	{status: 200, body: `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"te`}, {status: 200, body: `{"jsonrpc":"2.0","id":%s,"result":{"cont`, cut: true},
	{status: 200, body: "<html>SECRETS", kind: "text/html"}, {status: 200, body: `{"jsonrpc":"2.0","id":%s,"result":null}`}, {status: 200, body: `[]`}, {status: 200},
	{status: 202}, {status: 204}, {status: 0, cut: true}, {status: 200, body: "event: message\n\n", kind: "text/event-stream"},
	{status: 200, body: `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"internal SECRETS"}}`},
	{status: 500, body: `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"internal SECRETS"}}`},
	{status: 200, body: `{"jsonrpc":"2.0","id":%s,"error":{"code":-32099,"message":"mine"}}`}, {late: true, status: 500}, {late: true, cut: true},
	{status: 200, body: `{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"SECRETS"}}`, sober: true}, {status: 401, sober: true}, {status: 403, sober: true},
	{status: 405, sober: true}, {status: 413, body: "SECRETS", kind: "text/plain", sober: true},
}

// tell responds with a lie. It executes the call before the response, after a delay if the lie
// is late.
func (l lie) tell(w http.ResponseWriter, id json.RawMessage, secrets string, act func()) {
	if !l.late && !l.sober {
		act()
	}
	if l.late {
		time.Sleep(2500 * time.Millisecond)
		act()
	}
	if l.status != 0 {
		kind := l.kind
		if kind == "" {
			kind = "application/json"
		}
		w.Header().Set("Content-Type", kind)
		if l.status >= 300 && l.status < 400 {
			w.Header().Set("Location", l.to)
		}
		body := strings.Replace(l.body, "%s", string(id), 1)
		if inJSON, err := json.Marshal(secrets); err == nil && kind == "application/json" {
			secrets = strings.Trim(string(inJSON), `"`)
		}
		w.WriteHeader(l.status)
		_, _ = io.WriteString(w, strings.ReplaceAll(body, "SECRETS", secrets)) // the client may have disconnected
		_ = http.NewResponseController(w).Flush()
	}
	if l.cut {
		panic(http.ErrAbortHandler)
	}
}

// secretsOf returns the credentials in a request, in all encodings.
func secretsOf(r *http.Request) string {
	var out []string
	add := func(value string) {
		if at := strings.Index(value, canaryCore); at >= 0 {
			out = append(out, forms(value[at:])...)
		}
	}
	for _, fields := range []map[string][]string{r.Header, r.URL.Query()} {
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			for _, value := range fields[name] {
				add(value)
			}
		}
	}
	return strings.Join(out, " ")
}

// liar is a tool server that executes calls only sometimes, and gives wrong responses. It
// echoes its callers' credentials wherever it can.
type liar struct {
	deeds
	*httptest.Server
	dice *dice
}

// newLiar starts a liar. Its tool is strike.
func newLiar(t *testing.T, d *dice) *liar {
	l := &liar{dice: d}
	l.Server = httptest.NewServer(http.HandlerFunc(l.serve))
	t.Cleanup(l.Close)
	return l
}

type rpcCall struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name      string         `json:"name"`
		Arguments map[string]any `json:"arguments"`
	} `json:"params"`
}

func (l *liar) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed) // it offers no stream
		return
	}
	var in rpcCall
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	secrets := secretsOf(r)
	if in.Method == "tools/call" {
		l.call(w, in, secrets)
		return
	}
	if l.dice.trouble(10) {
		lies[l.dice.roll(len(lies))].tell(w, in.ID, secrets, func() {})
		return
	}
	switch in.Method {
	case "initialize":
		w.Header().Set("Mcp-Session-Id", fmt.Sprint("session-", l.dice.roll(1<<30)))
		answerRPC(w, in.ID, map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{"tools": map[string]any{}},
			"serverInfo": map[string]any{"name": "liar " + secrets, "version": "1"}, "instructions": secrets})
	case "tools/list":
		hints := map[string]any{"readOnlyHint": false, "destructiveHint": true}
		schema := map[string]any{"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string", "description": secrets}}}
		answerRPC(w, in.ID, map[string]any{"tools": []any{map[string]any{
			"name": "strike", "description": "Strikes. " + secrets, "annotations": hints, "inputSchema": schema,
		}}})
	case "ping":
		answerRPC(w, in.ID, map[string]any{})
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

// call strikes, or reports that it did not, or does not respond.
func (l *liar) call(w http.ResponseWriter, in rpcCall, secrets string) {
	name := fmt.Sprint(in.Params.Arguments["name"])
	l.note("call for %s ", name)
	act := func() {
		if l.dice.roll(2) == 0 {
			l.add(name)
			l.note("struck in secret for %s ", name)
		}
	}
	if l.dice.trouble(2) {
		lies[l.dice.roll(len(lies))].tell(w, in.ID, secrets, act)
		return
	}
	result := map[string]any{"content": []any{map[string]any{"type": "text", "text": "could not strike " + name + " " + secrets}}, "isError": true}
	if l.dice.roll(8) == 0 {
		act()
	} else {
		l.add(name)
		result = map[string]any{"content": []any{map[string]any{"type": "text", "text": "struck " + name + " " + secrets}}}
	}
	answerRPC(w, in.ID, result)
}

// answerRPC responds to a JSON-RPC request.
func answerRPC(w http.ResponseWriter, id json.RawMessage, result any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": id, "result": result})
}

// childMarker makes the test binary a tool server over stdio.
const childMarker = "CHAOS_CHILD"

// serveChild runs that server. It writes its environment to its results and its log.
func serveChild() {
	secrets := strings.Join(forms(os.Getenv("CHAOS_TOKEN")), " ")
	fmt.Fprintln(os.Stderr, "a child with", secrets)
	s := server.NewMCPServer("child", "1")
	tool := mcp.NewTool("whisper", mcp.WithDescription("Whispers. "+secrets), mcp.WithString("name"), mcp.WithReadOnlyHintAnnotation(true),
		mcp.WithDestructiveHintAnnotation(false))
	s.AddTool(tool, func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		fmt.Fprintln(os.Stderr, secrets)
		if name := r.GetString("name", ""); strings.HasSuffix(name, "1") {
			return nil, fmt.Errorf("no whisper for %s: %s", name, secrets)
		}
		return mcp.NewToolResultText("psst " + secrets), nil
	})
	_ = server.ServeStdio(s)
}
