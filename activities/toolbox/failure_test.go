package toolbox_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
)

// hangUntil sends no answer until done is closed or the client disconnects.
func hangUntil(done <-chan struct{}) func(http.ResponseWriter, *http.Request, string) bool {
	return func(_ http.ResponseWriter, r *http.Request, _ string) bool {
		select {
		case <-done:
		case <-r.Context().Done():
		}
		return true
	}
}

// sentKinds maps whether a call is destructive to its kind if it may have run.
var sentKinds = map[bool]contract.Kind{true: contract.KindOutcomeUnknown, false: contract.KindToolUnavailable}

func TestServerKilledDuringACall(t *testing.T) {
	for destructive, want := range sentKinds {
		p := newProbe()
		place := serve(t, newMCP(p))
		box := openServers(t, place.server("web"))
		running := callAside(t.Context(), box, toolbox.Call{Server: "web", Tool: "hang", Destructive: destructive})
		within(t, "the tool runs", p.entered)
		place.kill()
		wantKind(t, within(t, "the call ends", running).err, want)
		if n := len(place.requestsWith(toolsCall)); n != 1 {
			t.Errorf("the call was sent %d times", n)
		}
	}
}

func TestAnswerCutOff(t *testing.T) {
	for destructive, want := range sentKinds {
		place := serve(t, newMCP(nil))
		place.onRequest(cutCalls)
		box := openServers(t, place.server("web"))
		_, err := box.Call(t.Context(), toolbox.Call{Server: "web", Tool: "touch", Destructive: destructive})
		wantKind(t, err, want)
		if n := len(place.requestsWith(toolsCall)); n != 1 {
			t.Errorf("destructive %v: the call was sent %d times", destructive, n)
		}
	}
}

func TestChildDiesDuringACall(t *testing.T) {
	box := openServers(t, child(t, "child"))
	for destructive, want := range sentKinds {
		_, err := box.Call(t.Context(), toolbox.Call{Server: "child", Tool: "die", Destructive: destructive})
		wantKind(t, err, want)
		mustCall(t, box, toolbox.Call{Server: "child", Tool: "pid"}) // the next call works
	}
}

func TestServerIsDown(t *testing.T) {
	place := serve(t, newMCP(nil))
	box := openServers(t, place.server("web"))
	mustCall(t, box, toolbox.Call{Server: "web", Tool: "touch"})
	place.kill()
	_, err := box.Call(t.Context(), toolbox.Call{Server: "web", Tool: "touch", Destructive: true})
	wantKind(t, err, contract.KindToolUnavailable)
	if text := err.Error(); !strings.HasPrefix(text, "call touch on web: ") || strings.Contains(text, "http://") {
		t.Errorf("got %q", text)
	}
}

func TestStatusesMeanWhatTheySay(t *testing.T) {
	session400 := `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}`
	tests := []struct {
		name   string
		status int
		body   string
		want   contract.Kind
		sent   int
	}{
		{"an internal error may have happened after the fact", 500, "", contract.KindOutcomeUnknown, 1},
		{"so may a gateway's", 502, "{}", contract.KindOutcomeUnknown, 1},
		{"even with a JSON-RPC error", 503, session400, contract.KindOutcomeUnknown, 1},
		{"a lost session proves nothing", 400, session400, contract.KindOutcomeUnknown, 1},
		{"nor does one that is not found", 404, "", contract.KindOutcomeUnknown, 1},
		{"nor another bad request", 400, "no", contract.KindOutcomeUnknown, 1},
		{"forbidden is final", 403, "", contract.KindToolFailed, 1},
		{"too many requests may have been one too many", 429, "", contract.KindOutcomeUnknown, 1},
		{"garbage was an answer", 200, "garbage", contract.KindOutcomeUnknown, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			place := serve(t, newMCP(nil))
			place.onRequest(func(w http.ResponseWriter, _ *http.Request, body string) bool {
				if !strings.Contains(body, toolsCall) {
					return false
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(tt.status)
				_, _ = w.Write([]byte(tt.body))
				return true
			})
			box := openServers(t, place.server("web"))
			_, err := box.Call(t.Context(), toolbox.Call{Server: "web", Tool: "touch", Destructive: true})
			wantKind(t, err, tt.want)
			if n := len(place.requestsWith(toolsCall)); n != tt.sent {
				t.Errorf("the call was sent %d times, want %d", n, tt.sent)
			}
		})
	}
}

func TestToolErrorIsAResult(t *testing.T) {
	box := openServers(t, serve(t, newMCP(nil)).server("web"))
	got := mustCall(t, box, toolbox.Call{Server: "web", Tool: "fail"})
	if want := (toolbox.Result{Text: "no such thing", IsError: true}); !same(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestCallsThatMakeNoSense(t *testing.T) {
	box := openServers(t, serve(t, newMCP(nil)).server("web"))
	_, err := box.Call(t.Context(), toolbox.Call{Server: "web", Tool: "nothing", Destructive: true})
	wantKind(t, err, contract.KindToolFailed)
	_, err = box.Call(t.Context(), toolbox.Call{Server: "nobody", Tool: "touch"})
	wantKind(t, err, contract.KindToolFailed)
	_, err = box.Call(t.Context(), toolbox.Call{Server: "web", Tool: "touch", Arguments: []byte(`[1]`)})
	wantKind(t, err, contract.KindInvalid)
}

func TestHangingToolEndsWithTheTimeout(t *testing.T) {
	servers := []toolbox.Server{serve(t, newMCP(newProbe())).server("web"), child(t, "child")}
	for _, server := range servers {
		for destructive, want := range sentKinds {
			callUntilSent(t, want, func(limit time.Duration) error {
				box := open(t, toolbox.Options{Servers: servers, CallTimeout: limit})
				box.Tools(t.Context())
				_, err := box.Call(t.Context(), toolbox.Call{Server: server.Name, Tool: "hang", Destructive: destructive})
				return err
			})
		}
	}
}

func TestCancelledCallReturnsAndTellsTheServer(t *testing.T) {
	p := newProbe()
	place := serve(t, newMCP(p))
	box := openServers(t, place.server("web"))
	ctx, cancel := context.WithCancel(t.Context())
	running := callAside(ctx, box, toolbox.Call{Server: "web", Tool: "hang", Bearer: "canary", Destructive: true})
	within(t, "the tool runs", p.entered)
	cancel()
	err := within(t, "the call returns", running).err
	wantKind(t, err, contract.KindOutcomeUnknown)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	eventually(t, "the server is told", func() bool { return len(place.requestsWith("notifications/cancelled")) == 1 })
	if got := place.requestsWith("notifications/cancelled")[0]; got.header.Get("Authorization") != "Bearer canary" {
		t.Errorf("told by a stranger: %v", got.header)
	}
}

func TestCancelledBeforeSending(t *testing.T) {
	place := serve(t, newMCP(nil))
	box := openServers(t, place.server("web"))
	box.Tools(t.Context())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := box.Call(ctx, toolbox.Call{Server: "web", Tool: "touch", Destructive: true})
	wantKind(t, err, contract.KindToolUnavailable)
	if !errors.Is(err, context.Canceled) || len(place.requestsWith(toolsCall)) != 0 {
		t.Errorf("got %v", err)
	}
}
