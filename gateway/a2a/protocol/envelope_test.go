package protocol_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"agent-stop-and-go/gateway/a2a/protocol"
)

const hello03 = `{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"hi"}]}}`
const hello10 = `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]}}`

func TestEnvelope(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		code       int
		id         any
	}{
		{"unclosed JSON", `{"jsonrpc": "2.0", "method": "message/send", "params": {"foo": "bar"}`, -32700, nil},
		{"an empty body", ``, -32700, nil},
		{"something behind the request", `{} {}`, -32700, nil},
		{"a batch", `[` + rpc("message/send", hello03) + `]`, -32600, nil},
		{"an empty batch", `[]`, -32600, nil},
		{"a text", `"hi"`, -32600, nil},
		{"null", `null`, -32600, nil},
		{"no version of JSON-RPC", `{"id":"x","method":"message/send","params":` + hello03 + `}`, -32600, "x"},
		{"another version of JSON-RPC", `{"jsonrpc":"1.0","id":"x","method":"message/send","params":` + hello03 + `}`, -32600, "x"},
		{"a version that is no text", `{"jsonrpc":2.0,"id":"x","method":"GetTask","params":{}}`, -32600, "x"},
		{"a bad version without id", `{"jsonrpc":"aaa","method":"message/send","params":{}}`, -32600, nil},
		{"no method", `{"jsonrpc":"2.0","id":"x","params":{}}`, -32600, "x"},
		{"no method and no id", `{"jsonrpc":"2.0","params":{}}`, -32600, nil},
		{"a method that is no text", `{"jsonrpc":"2.0","id":7,"method":1}`, -32600, 7.0},
		{"an object for an id", `{"jsonrpc":"2.0","id":{"bad":"type"},"method":"message/send","params":{}}`, -32600, nil},
		{"an array for an id", `{"jsonrpc":"2.0","id":[1],"method":"message/send","params":{}}`, -32600, nil},
		{"a truth for an id", `{"jsonrpc":"2.0","id":true,"method":"message/send","params":{}}`, -32600, nil},
		{"a fraction for an id", `{"jsonrpc":"2.0","id":1.5,"method":"message/send","params":{}}`, -32600, nil},
		{"a huge id", `{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 2000) + `","method":"GetTask","params":{}}`, -32600, nil},
		{"an unknown method", rpc("nonexistent/method", `{}`), -32601, "1"},
		{"an unknown method of 1.0", rpc("NonExistentMethod", `{}`), -32601, "1"},
		{"an unknown method without id", `{"jsonrpc":"2.0","method":"message/ssend","params":{}}`, -32601, nil},
		{"a method in the wrong case", rpc("sendMessage", hello10), -32601, "1"},
		{"params that are text", rpc("message/send", `"not_a_dict"`), -32602, "1"},
		{"params that are an array", rpc("SendMessage", `[]`), -32602, "1"},
		{"params without anything known", `{"jsonrpc":"2.0","method":"message/send","params":{"":"not_a_dict"}}`, -32602, nil},
		{"no params", `{"jsonrpc":"2.0","id":1,"method":"SendMessage"}`, -32602, 1.0},
		{"null params", rpc("SendMessage", `null`), -32602, "1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := post(t, &fake{}, tt.body)
			if got.status != http.StatusOK || got.code() != tt.code || got.ID != tt.id {
				t.Errorf("got %d %s, want 200, code %d, id %v", got.status, got.body, tt.code, tt.id)
			}
			if !strings.Contains(got.body, `"id":`) || !strings.Contains(got.body, `"jsonrpc":"2.0"`) || strings.Contains(got.body, `"result"`) {
				t.Errorf("no JSON-RPC error: %s", got.body)
			}
		})
	}
}

func TestErrorTextsThatClientsKnow(t *testing.T) {
	if got := post(t, &fake{}, `{`); got.message() != "Parse error" {
		t.Errorf("got %q", got.message())
	}
	if got := post(t, &fake{}, rpc("tasks/nonsense", `{}`)); got.message() != "Method not found" {
		t.Errorf("got %q", got.message())
	}
}

func TestTheIDIsEchoedAsItCame(t *testing.T) {
	for _, id := range []string{`"a"`, `""`, `"a<é>\u00e9"`, `1`, `-7`, `0`, `1.0`, `1e2`, `12345678901234567890`, `null`} {
		got := post(t, sends(task(a2a.TaskStateCompleted)),
			`{"jsonrpc":"2.0","id": `+id+`,"method":"GetTask","params":{"id":"t1"}}`)
		if !strings.Contains(got.body, `"id":`+id+`,"result"`) {
			t.Errorf("id %s: got %s", id, got.body)
		}
	}
}

func TestARequestWithoutAnIDIsAnswered(t *testing.T) {
	got := post(t, sends(task(a2a.TaskStateCompleted)), `{"jsonrpc":"2.0","method":"GetTask","params":{"id":"t1"}}`)
	if !strings.HasPrefix(got.body, `{"jsonrpc":"2.0","id":null,"result":{`) {
		t.Errorf("got %s", got.body)
	}
}

func TestDuplicateKeysTheLastWins(t *testing.T) {
	got := post(t, sends(task(a2a.TaskStateCompleted)), `{"jsonrpc":"2.0","id":1,"id":2,"method":"x","method":"GetTask","params":{"id":"t1"}}`)
	if got.Error != nil || got.ID != 2.0 {
		t.Errorf("got %s", got.body)
	}
}

func TestMediaTypes(t *testing.T) {
	for _, tt := range []struct {
		kind string
		ok   bool
	}{
		{"application/json", true},
		{"application/json; charset=utf-8", true},
		{"Application/JSON", true},
		{"application/a2a+json", true},
		{"text/plain", false},
		{"application/x-www-form-urlencoded", false},
		{"multipart/form-data; boundary=x", false},
		{"application/jsonp", false},
		{"", false},
	} {
		t.Run(tt.kind, func(t *testing.T) {
			got := post(t, sends(task(a2a.TaskStateCompleted)), rpc("GetTask", `{"id":"t1"}`), "Content-Type", tt.kind)
			if tt.ok {
				if got.status != 200 || got.Error != nil {
					t.Errorf("got %d %s", got.status, got.body)
				}
				return
			}
			if got.status != http.StatusUnsupportedMediaType || got.code() != -32005 || got.ID != "1" {
				t.Errorf("got %d %s", got.status, got.body)
			}
		})
	}
}

func TestAWrongMediaTypeIsSaidOfABodyThatIsNoJSON(t *testing.T) {
	got := post(t, &fake{}, `{'jsonrpc': '2.0', 'id': 1}`, "Content-Type", "text/plain")
	if got.status != http.StatusUnsupportedMediaType || got.code() != -32005 || got.ID != nil {
		t.Errorf("got %d %s", got.status, got.body)
	}
	reason(t, got, "CONTENT_TYPE_NOT_SUPPORTED")
}

func TestABodyThatIsTooLarge(t *testing.T) {
	req := httptest.NewRequest("POST", "/a2a", strings.NewReader(rpc("GetTask", `{"id":"t1"}`)))
	req.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	req.Body = http.MaxBytesReader(w, req.Body, 10)
	got := served(t, protocol.New(&fake{}, silent), req)
	if got.status != http.StatusRequestEntityTooLarge || got.code() != -32600 || !strings.Contains(got.message(), "10 bytes") {
		t.Errorf("got %d %s", got.status, got.body)
	}
}

func TestVersions(t *testing.T) {
	for _, tt := range []struct {
		version string
		ok      bool
	}{
		{"1.0", true}, {"1.0.3", true}, {"1", true}, {"0.3", true}, {"0.3.0", true}, {"", true},
		{"99.0", false}, {"1.5", false}, {"0.1", false}, {"latest", false}, {"1.0, 0.3", false},
	} {
		for _, body := range []string{rpc("GetTask", `{"id":"t1"}`), rpc("tasks/get", `{"id":"t1"}`)} {
			got := post(t, sends(task(a2a.TaskStateCompleted)), body, "a2a-version", tt.version)
			if tt.ok != (got.Error == nil) {
				t.Errorf("version %q: got %s", tt.version, got.body)
			}
			if !tt.ok {
				if got.code() != -32009 || got.ID != "1" || got.status != 200 {
					t.Errorf("version %q: got %d %s", tt.version, got.status, got.body)
				}
				reason(t, got, "VERSION_NOT_SUPPORTED")
			}
		}
	}
}

func TestTheVersionMayStandInTheQuery(t *testing.T) {
	req := httptest.NewRequest("POST", "/a2a?A2A-Version=99.0", strings.NewReader(rpc("GetTask", `{"id":"t1"}`)))
	req.Header.Set("Content-Type", "application/json")
	if got := served(t, protocol.New(&fake{}, silent), req); got.code() != -32009 {
		t.Errorf("got %s", got.body)
	}
}

// reason checks the ErrorInfo that 1.0 requires.
func reason(t *testing.T, r reply, want string) {
	t.Helper()
	data, _ := r.Error["data"].([]any)
	for _, d := range data {
		info, _ := d.(map[string]any)
		if info["@type"] == "type.googleapis.com/google.rpc.ErrorInfo" {
			if info["reason"] != want || info["domain"] != "a2a-protocol.org" {
				t.Errorf("got %v, want reason %s", info, want)
			}
			return
		}
	}
	t.Errorf("no ErrorInfo in %s", r.body)
}
