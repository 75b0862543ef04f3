package toolbox_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
)

func TestStreamOfServerMessagesIsBounded(t *testing.T) {
	place := newSite(t)
	place.onRequest(endlessMessage(make(chan struct{})))
	place.start(newMCP(nil))
	log := &logBuffer{}
	open(t, toolbox.Options{Servers: []toolbox.Server{place.server("web")}, Logger: log.logger()})
	eventually(t, "the server is connected anew", func() bool { return len(place.requestsWith(`"method":"initialize"`)) > 1 })
	if !strings.Contains(log.String(), messageTooLarge) {
		t.Errorf("got %s", log)
	}
}

// The stream opens after initialize, during the first listing of the tools, which fails when
// the connection ends.
func TestALossDuringTheFirstListingIsReportedWithItsCause(t *testing.T) {
	place := newSite(t)
	ended := make(chan struct{})
	message := endlessMessage(ended)
	place.onRequest(func(w http.ResponseWriter, r *http.Request, body string) bool {
		if strings.Contains(body, `"method":"tools/list"`) {
			<-ended
			<-r.Context().Done()
			return true
		}
		return message(w, r, body)
	})
	place.start(newMCP(nil))
	box := openServers(t, place.server("web"))
	_, err := box.Call(t.Context(), toolbox.Call{Server: "web", Tool: "touch"})
	wantKind(t, err, contract.KindToolUnavailable)
	if state := box.States()[0]; !strings.Contains(err.Error(), messageTooLarge) || !strings.Contains(state.Error, messageTooLarge) {
		t.Errorf("got %v, %+v", err, state)
	}
}

const messageTooLarge = "a message of the server is larger than 1 MiB"

// endlessMessage answers the request for the stream of server messages with short messages and
// one without an end. It closes ended when the client has closed the first such stream.
func endlessMessage(ended chan<- struct{}) func(http.ResponseWriter, *http.Request, string) bool {
	var once sync.Once
	return func(w http.ResponseWriter, r *http.Request, _ string) bool {
		if r.Method != http.MethodGet {
			return false
		}
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		for range 3 {
			_, _ = w.Write([]byte("data: " + strings.Repeat("x", 600<<10) + "\n\n"))
		}
		_, _ = w.Write([]byte("data: " + strings.Repeat("x", 2<<20)))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		once.Do(func() { close(ended) })
		return true
	}
}

func TestTalkativeChildDoesNotFillTheLog(t *testing.T) {
	log := &logBuffer{}
	s := child(t, "child")
	s.Env[childMarker] = "chatty"
	box := open(t, toolbox.Options{Servers: []toolbox.Server{s}, Logger: log.logger()})
	box.Tools(t.Context())
	eventually(t, "what was left out is counted", func() bool { return strings.Contains(log.String(), "lines were left out") })
	if n := strings.Count(log.String(), "line=blah"); n == 0 || n > 100 {
		t.Errorf("%d lines", n)
	}
}

func TestListIsNotReadAllTheTime(t *testing.T) {
	log := &logBuffer{}
	m := newMCP(nil)
	place := serve(t, m)
	s := place.server("web")
	s.Unannotated = toolbox.Run
	box := open(t, toolbox.Options{Servers: []toolbox.Server{s}, Logger: log.logger()})
	box.Tools(t.Context())
	place.awaitStream()
	lists := func() int { return len(place.requestsWith(`"method":"tools/list"`)) }
	since, before := time.Now(), lists()
	for time.Since(since) < 1200*time.Millisecond {
		m.SendNotificationToAllClients("notifications/tools/list_changed", nil)
		time.Sleep(5 * time.Millisecond)
	}
	if n, took := lists()-before, time.Since(since); n > 3+int(took/time.Second) {
		t.Errorf("listed %d times in %s", n, took)
	}
	m.AddTool(mcp.NewTool("late", mcp.WithToolAnnotation(mcp.ToolAnnotation{})), echo)
	eventually(t, "the last change is seen", func() bool { return strings.Contains(names(box.Tools(t.Context())), "late") })
	if !strings.Contains(log.String(), "tools=[late]") {
		t.Errorf("the new tool is not warned of:\n%s", log)
	}
}

// writeUntilClosed writes until the reader has closed, and returns the number of bytes.
func writeUntilClosed(w http.ResponseWriter) int {
	part := []byte(strings.Repeat("x", 1<<20))
	for n := range 200 {
		if _, err := w.Write(part); err != nil {
			return n << 20
		}
	}
	return 200 << 20
}

func TestWhatIsReadOfAnyAnswerIsBounded(t *testing.T) {
	event := func(w http.ResponseWriter, text string) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte(text))
	}
	isStream := func(r *http.Request, _ string) bool {
		return r.Method == http.MethodGet && r.Header.Get("Last-Event-ID") == ""
	}
	isResumed := func(r *http.Request, _ string) bool { return r.Header.Get("Last-Event-ID") != "" }
	for name, tt := range map[string]struct {
		matches func(r *http.Request, body string) bool
		begin   func(w http.ResponseWriter)
	}{
		"a stream that is resumed": {isResumed, func(w http.ResponseWriter) { event(w, "data: ") }},
		"a stream that is refused": {isStream, func(w http.ResponseWriter) { w.WriteHeader(http.StatusBadGateway) }},
		"a call":                   {isCall, func(w http.ResponseWriter) { w.Header().Set("Content-Type", "application/json") }},
		"a call that is refused":   {isCall, func(w http.ResponseWriter) { w.WriteHeader(http.StatusBadGateway) }},
	} {
		t.Run(name, func(t *testing.T) {
			place := newSite(t)
			poured := make(chan int, 10)
			place.onRequest(func(w http.ResponseWriter, r *http.Request, body string) bool {
				switch {
				case tt.matches(r, body):
					tt.begin(w)
					poured <- writeUntilClosed(w)
				case isCall(r, body):
					event(w, "retry: 10\nid: 1\ndata:\n\n")
				default:
					return false
				}
				return true
			})
			place.start(newMCP(nil))
			box := openServers(t, place.server("web"))
			box.Tools(t.Context())
			ctx, cancel := context.WithCancel(t.Context())
			call := callAside(ctx, box, toolbox.Call{Server: "web", Tool: "touch", Destructive: true})
			if n := within(t, "the server is no longer read", poured); n > 100<<20 {
				t.Errorf("%d MiB were read", n>>20)
			}
			cancel()
			wantKind(t, within(t, "the call ends", call).err, contract.KindOutcomeUnknown)
		})
	}
}

func isCall(_ *http.Request, body string) bool { return strings.Contains(body, toolsCall) }
