package toolbox_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/mcpservers/hosting"
	"agent-stop-and-go/workflows/contract"
)

// initializeAnswer returns the answer to initialize of a server that remembers keys, or does
// not.
func initializeAnswer(remembers bool) func(http.ResponseWriter, json.RawMessage) string {
	return func(w http.ResponseWriter, params json.RawMessage) string {
		result := hello("s-1")(w, params)
		if remembers {
			result = strings.Replace(result, `"tools":{}`, fmt.Sprintf(`"experimental":{%q:{}},"tools":{}`, contract.IdempotencyCapability), 1)
		}
		return result
	}
}

// serveAndReply starts a server that runs every call and then answers with says.
func serveAndReply(t *testing.T, remembers bool, says func(w http.ResponseWriter)) *site {
	t.Helper()
	place := serveRaw(t, raw{
		"initialize": initializeAnswer(remembers), "tools/list": func(http.ResponseWriter, json.RawMessage) string { return oneTool },
		"tools/call": func(w http.ResponseWriter, _ json.RawMessage) string { says(w); return "" },
	})
	return place
}

// callApproved makes a destructive call with an idempotency key, like an approved call.
func callApproved(t *testing.T, place *site) error {
	t.Helper()
	box := openServers(t, place.server("web"))
	box.Tools(t.Context())
	_, err := box.Call(t.Context(), toolbox.Call{Server: "web", Tool: "touch", Destructive: true, IdempotencyKey: "key"})
	return err
}

func TestADestructiveCallIsSentOnceWhateverTheStatus(t *testing.T) {
	refused := map[int]bool{403: true, 405: true, 406: true, 411: true, 413: true, 414: true, 415: true, 426: true, 431: true}
	for status := 300; status < 600; status++ {
		if http.StatusText(status) == "" || status == http.StatusUnauthorized {
			continue
		}
		for _, body := range []string{"", "your session is over", `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no such session"}}`} {
			place := serveAndReply(t, false, func(w http.ResponseWriter) {
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(status)
				_, _ = w.Write([]byte(body))
			})
			want := contract.KindOutcomeUnknown
			if refused[status] && !strings.HasPrefix(body, "{") {
				want = contract.KindToolFailed
			}
			err := callApproved(t, place)
			wantKind(t, err, want)
			if n := len(place.requestsWith(toolsCall)); n != 1 {
				t.Errorf("%d %q: sent %d times: %v", status, body, n, err)
			}
			place.kill()
		}
	}
}

func TestOnlyARefusalOfTheProtocolProvesThatAToolDidNotRun(t *testing.T) {
	for code, want := range map[int]contract.Kind{
		mcp.PARSE_ERROR: contract.KindToolFailed, mcp.INVALID_REQUEST: contract.KindToolFailed,
		mcp.METHOD_NOT_FOUND: contract.KindToolFailed, mcp.INVALID_PARAMS: contract.KindToolFailed,
		mcp.INTERNAL_ERROR: contract.KindOutcomeUnknown, -32000: contract.KindOutcomeUnknown, -32001: contract.KindOutcomeUnknown,
		-32002: contract.KindOutcomeUnknown, 0: contract.KindOutcomeUnknown, 17: contract.KindOutcomeUnknown,
	} {
		for _, remembers := range []bool{false, true} {
			place := serveRaw(t, raw{"initialize": initializeAnswer(remembers), "tools/list": says(oneTool)})
			place.onRequest(failCalls(code))
			wantKind(t, callApproved(t, place), want)
			if n := len(place.requestsWith(toolsCall)); n != 1 {
				t.Errorf("%d: sent %d times", code, n)
			}
		}
	}
}

// failCalls answers every call with a JSON-RPC error.
func failCalls(code int) func(http.ResponseWriter, *http.Request, string) bool {
	return func(w http.ResponseWriter, _ *http.Request, body string) bool {
		var req struct{ ID json.RawMessage }
		if !strings.Contains(body, toolsCall) || json.Unmarshal([]byte(body), &req) != nil {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"it broke"}}`, req.ID, code)
		return true
	}
}

func TestALostSessionIsNoReasonToRepeatACallUnlessTheServerRemembersKeys(t *testing.T) {
	for name, tt := range map[string]struct {
		remembers bool
		key       string
		want      contract.Kind
		sent      int
	}{
		"it does not":             {false, "key", contract.KindOutcomeUnknown, 1},
		"it does":                 {true, "key", contract.KindToolUnavailable, 2},
		"it does, without a key":  {true, "", contract.KindOutcomeUnknown, 1},
		"it does not, and no key": {false, "", contract.KindOutcomeUnknown, 1},
	} {
		t.Run(name, func(t *testing.T) {
			place := serveAndReply(t, tt.remembers, func(w http.ResponseWriter) { http.Error(w, "no such session", http.StatusBadRequest) })
			box := openServers(t, place.server("web"))
			box.Tools(t.Context())
			_, err := box.Call(t.Context(), toolbox.Call{Server: "web", Tool: "touch", Destructive: true, IdempotencyKey: tt.key})
			wantKind(t, err, tt.want)
			if n := len(place.requestsWith(toolsCall)); n != tt.sent {
				t.Errorf("sent %d times, want %d", n, tt.sent)
			}
		})
	}
}

// A server that declares the capability may be replaced by one that does not.
func TestACallIsNotRepeatedAtAServerThatDeclaresNothing(t *testing.T) {
	first := true
	place := serveRaw(t, raw{
		"initialize": func(w http.ResponseWriter, params json.RawMessage) string {
			defer func() { first = false }()
			return initializeAnswer(first)(w, params)
		},
		"tools/list": says(oneTool),
		"tools/call": func(w http.ResponseWriter, _ json.RawMessage) string {
			http.Error(w, "no such session", http.StatusBadRequest)
			return ""
		},
	})
	wantKind(t, callApproved(t, place), contract.KindOutcomeUnknown)
	if n := len(place.requestsWith(toolsCall)); n != 1 {
		t.Errorf("sent %d times", n)
	}
}

func TestADestructiveCallGoesWhereRedirectsHaveLed(t *testing.T) {
	place := newSite(t)
	target := raw{"tools/list": says(oneTool), "tools/call": says(`{"content":[{"type":"text","text":"done"}]}`)}
	place.startHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/") {
			http.Redirect(w, r, r.URL.Path+"/", http.StatusTemporaryRedirect)
			return
		}
		target.ServeHTTP(w, r)
	}))
	if err := callApproved(t, place); err != nil {
		t.Error(err)
	}
	if n := len(place.requestsWith(toolsCall)); n != 1 {
		t.Errorf("sent %d times", n)
	}
}

func TestOurOwnServersDeclareWhatTheToolboxLooksFor(t *testing.T) {
	if hosting.IdempotencyCapability != contract.IdempotencyCapability || hosting.IdempotencyKey != contract.IdempotencyMetaKey {
		t.Error("the names differ")
	}
}
