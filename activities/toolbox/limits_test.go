package toolbox_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"agent-stop-and-go/activities/toolbox"
)

func TestStreamOfServerMessagesIsBounded(t *testing.T) {
	place := newSite(t)
	place.onRequest(func(w http.ResponseWriter, r *http.Request, _ string) bool {
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
		return true
	})
	place.start(newMCP(nil))
	log := &logBuffer{}
	open(t, toolbox.Options{Servers: []toolbox.Server{place.server("web")}, Logger: log.logger()})
	eventually(t, "the server is connected anew", func() bool { return len(place.got(`"method":"initialize"`)) > 1 })
	if !strings.Contains(log.String(), "a message of the server is larger than 1 MiB") {
		t.Errorf("got %s", log)
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

func TestLineWithoutEndEndsTheChild(t *testing.T) {
	s := child(t, "child")
	box := openServers(t, s)
	box.Tools(t.Context())
	for size, want := range map[int]bool{8 << 20: true, 17 << 20: false} {
		_, err := box.Call(t.Context(), toolbox.Call{Server: "child", Tool: "echo", Arguments: []byte(`{"text":"` + strings.Repeat("x", size) + `"}`)})
		if (err == nil) != want {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

func TestListIsNotReadAllTheTime(t *testing.T) {
	log := &logBuffer{}
	m := newMCP(nil)
	place := serve(t, m)
	box := open(t, toolbox.Options{Servers: []toolbox.Server{place.server("web")}, Logger: log.logger()})
	box.Tools(t.Context())
	place.listening()
	lists := func() int { return len(place.got(`"method":"tools/list"`)) }
	before, since := lists(), time.Now()
	for time.Since(since) < 1200*time.Millisecond {
		m.SendNotificationToAllClients("notifications/tools/list_changed", nil)
		time.Sleep(5 * time.Millisecond)
	}
	if n := lists() - before; n > 4 {
		t.Errorf("listed %d times in %s", n, time.Since(since))
	}
	m.AddTool(mcp.NewTool("late", mcp.WithToolAnnotation(mcp.ToolAnnotation{})), echo)
	eventually(t, "the last change is seen", func() bool { return strings.Contains(names(box.Tools(t.Context())), "late") })
	if !strings.Contains(log.String(), "tools=[late]") {
		t.Errorf("the new tool is not warned of:\n%s", log)
	}
}
