package toolbox_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
)

// raw answers JSON-RPC requests with a test's results, by method. Sessions are up to the test.
type raw map[string]func(w http.ResponseWriter, params json.RawMessage) (result string)

func (s raw) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var req struct {
		ID     json.RawMessage
		Method string
		Params json.RawMessage
	}
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	_ = json.NewDecoder(r.Body).Decode(&req)
	if req.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	answer := s[req.Method]
	if req.Method == "initialize" && answer == nil {
		answer = hello("")
	}
	if answer == nil {
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, req.ID)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if result := answer(w, req.Params); result != "" {
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, req.ID, result)
	}
}

func hello(session string) func(http.ResponseWriter, json.RawMessage) string {
	return func(w http.ResponseWriter, _ json.RawMessage) string {
		if session != "" {
			w.Header().Set("Mcp-Session-Id", session)
		}
		return `{"protocolVersion":"2025-11-25","serverInfo":{"name":"raw","version":"1"},"capabilities":{"tools":{},"resources":{},"prompts":{}}}`
	}
}

func says(result string) func(http.ResponseWriter, json.RawMessage) string {
	return func(http.ResponseWriter, json.RawMessage) string { return result }
}

func serveRaw(t *testing.T, s raw) *site {
	t.Helper()
	place := newSite(t)
	place.startHandler(s)
	return place
}

const oneTool = `{"tools":[{"name":"touch","inputSchema":{"type":"object"}}]}`

// endless returns a list of infinitely many pages.
func endless(page string) func(http.ResponseWriter, json.RawMessage) string {
	var mu sync.Mutex
	n := 0
	return func(http.ResponseWriter, json.RawMessage) string {
		mu.Lock()
		defer mu.Unlock()
		n++
		return fmt.Sprintf(page, n)
	}
}

func TestListsWithoutEnd(t *testing.T) {
	large := strings.Repeat("x", 4<<20)
	many := "{\"tools\":[" + strings.TrimSuffix(strings.Repeat(`{"name":"a","inputSchema":{"type":"object"}},`, 10_001), ",") + "]}"
	for _, tt := range []struct {
		name, want string
		list       func(http.ResponseWriter, json.RawMessage) string
	}{
		{"pages", "lists more than 1000 pages", endless(`{"tools":[],"nextCursor":"%d"}`)},
		{"bytes", "lists more than 64 MiB", endless(`{"tools":[],"nextCursor":"%d","_meta":{"x":"` + large + `"}}`)},
		{"tools", "lists more than 10000 items", says(many)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			place := serveRaw(t, raw{"tools/list": tt.list})
			box := open(t, toolbox.Options{Servers: []toolbox.Server{place.server("web")}, FirstWait: time.Minute, ConnectTimeout: time.Minute})
			box.Tools(t.Context())
			if got := box.States()[0]; got.Ready || !strings.Contains(got.Error, `MCP server "web": `+tt.want) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestListOfPromptsWithoutEnd(t *testing.T) {
	box := openServers(t, serveRaw(t, raw{"tools/list": says(oneTool), "prompts/list": endless(`{"prompts":[],"nextCursor":"%d"}`)}).server("web"))
	_, err := box.Prompts(t.Context())
	failed := toolbox.Failures(err)
	if len(failed) != 1 || failed[0].Server != "web" || !strings.Contains(failed[0].Reason(), "lists more than 1000 pages") {
		t.Errorf("got %v", err)
	}
}

func TestSecretsInListsAreHiddenFieldByField(t *testing.T) {
	s := serveRaw(t, raw{
		"tools/list":   says(oneTool),
		"prompts/list": says(`{"prompts":[{"name":"p","description":"say \"description\" and canary\u002d1"}]}`),
	}).server("web")
	s.Headers = map[string]string{"X-Secret": "canary-1", "X-Password": "description"}
	prompts, err := openServers(t, s).Prompts(t.Context())
	if err != nil || len(prompts) != 1 || prompts[0].Description != `say "[secret]" and [secret]` {
		t.Errorf("got %+v, %v", prompts, err)
	}
}

func TestEqualNamesInsideAServer(t *testing.T) {
	log := &logBuffer{}
	s := serveRaw(t, raw{"tools/list": says(`{"tools":[
		{"name":"wipe","description":"mild","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},
		{"name":"","inputSchema":{"type":"object"}},
		{"name":"wipe","description":"hard","inputSchema":{"type":"object"},"annotations":{"destructiveHint":true}}]}`)}).server("web")
	box := open(t, toolbox.Options{Servers: []toolbox.Server{s}, Logger: log.logger()})
	tools := box.Tools(t.Context())
	if len(tools) != 1 || tools[0].Description != "hard" || !tools[0].DestructiveHint {
		t.Errorf("got %+v", tools)
	}
	if got := box.States()[0]; !got.Ready || got.Error != `duplicate tool name "wipe" inside MCP server "web"` {
		t.Errorf("got %+v", got)
	}
	if !strings.Contains(log.String(), "several tools of the server have one name") {
		t.Errorf("got %s", log)
	}
}

func TestNotFoundIsALostSessionOnlyWhereThereIsOne(t *testing.T) {
	gone := func(w http.ResponseWriter, _ json.RawMessage) string {
		w.WriteHeader(http.StatusNotFound)
		return ""
	}
	for _, tt := range []struct {
		name              string
		session           string
		destructive       bool
		initialized, sent int
		want              contract.Kind
	}{
		{"no session", "", true, 1, 1, contract.KindOutcomeUnknown},
		{"no session, harmless", "", false, 1, 1, contract.KindToolFailed},
		{"a session", "s-1", true, 1, 1, contract.KindOutcomeUnknown},
		{"the same again, harmless", "s-1", false, 2, 2, contract.KindToolUnavailable},
	} {
		t.Run(tt.name, func(t *testing.T) {
			place := serveRaw(t, raw{"initialize": hello(tt.session), "tools/list": says(oneTool), "tools/call": gone})
			box := openServers(t, place.server("web"))
			box.Tools(t.Context())
			_, err := box.Call(t.Context(), toolbox.Call{Server: "web", Tool: "touch", Destructive: tt.destructive})
			wantKind(t, err, tt.want)
			if n := len(place.requestsWith(toolsCall)); n != tt.sent {
				t.Errorf("sent %d times, want %d", n, tt.sent)
			}
			if n := len(place.requestsWith(`"method":"initialize"`)); n < tt.initialized {
				t.Errorf("initialized %d times, want %d", n, tt.initialized)
			}
		})
	}
}

func TestACallThatWasGivenWhatItAskedForMayHaveHappened(t *testing.T) {
	cut := func(w http.ResponseWriter) {
		if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
			conn.Close()
		}
	}
	refuse := func(w http.ResponseWriter) { w.WriteHeader(http.StatusBadGateway) }
	for name, end := range map[string]func(http.ResponseWriter){"cut": cut, "refused on the way": refuse} {
		t.Run(name, func(t *testing.T) {
			call := func(w http.ResponseWriter, params json.RawMessage) string {
				if !strings.Contains(string(params), "inputResponses") {
					return `{"resultType":"input_required","inputRequests":{"it":{"method":"roots/list"}},"requestState":"s"}`
				}
				end(w)
				return ""
			}
			s := serveRaw(t, raw{"tools/list": says(oneTool), "tools/call": call}).server("web")
			s.Roots = []string{"/srv"}
			_, err := openServers(t, s).Call(t.Context(), toolbox.Call{Server: "web", Tool: "touch", Destructive: true})
			wantKind(t, err, contract.KindOutcomeUnknown)
		})
	}
}

func TestAnAnswerThatIsNoResultIsLost(t *testing.T) {
	for _, result := range []string{`null`, `[]`, `"done"`, `{"resultType":"later"}`, `{"content":"done"}`} {
		t.Run(result, func(t *testing.T) {
			s := serveRaw(t, raw{"tools/list": says(oneTool), "tools/call": says(result)}).server("web")
			_, err := openServers(t, s).Call(t.Context(), toolbox.Call{Server: "web", Tool: "touch", Destructive: true})
			wantKind(t, err, contract.KindOutcomeUnknown)
		})
	}
}

// The reason of a lost connection is logged and part of the server's state, which all callers
// see. It must not contain the token of the caller whose request lost the connection.
func TestALossDoesNotRevealTheCallersToken(t *testing.T) {
	const token = "t0ken-of-the-caller"
	rest := raw{"initialize": hello("s-1"), "tools/list": says(oneTool)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var req struct {
			ID     json.RawMessage
			Method string
		}
		if err != nil || json.Unmarshal(body, &req) != nil || req.Method != "tools/call" {
			r.Body = io.NopCloser(bytes.NewReader(body))
			rest.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32001,"message":"session not found %s"}}`, req.ID, token)
	}))
	t.Cleanup(server.Close)
	log := &logBuffer{}
	box := open(t, toolbox.Options{Servers: []toolbox.Server{{Name: "web", URL: server.URL}}, Logger: log.logger()})
	box.Tools(t.Context())
	_, err := box.Call(t.Context(), toolbox.Call{Server: "web", Tool: "touch", Destructive: true, Bearer: token})
	wantKind(t, err, contract.KindOutcomeUnknown)
	if state := fmt.Sprintf("%+v", box.States()); strings.Contains(state, token) || strings.Contains(log.String(), token) {
		t.Errorf("state %s, log %s", state, log)
	}
	if !strings.Contains(log.String(), "session not found [bearer token]") {
		t.Errorf("log %s", log)
	}
}

func TestAnErrorThatQuotesAPartOfTheTokenHidesIt(t *testing.T) {
	const token = "t0ken-of-the-caller"
	refusal := says(`null,"error":{"code":-32602,"message":"not with ` + token[:len(token)-3] + `"}`)
	s := serveRaw(t, raw{"tools/list": says(oneTool), "tools/call": refusal}).server("web")
	_, err := openServers(t, s).Call(t.Context(), toolbox.Call{Server: "web", Tool: "touch", Bearer: token})
	if err == nil || strings.Contains(err.Error(), token[:8]) || !strings.Contains(err.Error(), "[bearer token]") {
		t.Errorf("error %v", err)
	}
}
