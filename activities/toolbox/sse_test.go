package toolbox_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

func TestSSEServerKilledDuringACall(t *testing.T) {
	for destructive, want := range sentKinds {
		p := newProbe()
		place := serveSSE(t, newMCP(p))
		box := openServers(t, place.sse("web"))
		running := callAside(t.Context(), box, toolbox.Call{Server: "web", Tool: "hang", Destructive: destructive})
		within(t, "the tool runs", p.entered)
		place.kill()
		wantKind(t, within(t, "the call ends", running).err, want)
		if n := len(place.requestsWith(toolsCall)); n != 1 {
			t.Errorf("the call was sent %d times", n)
		}
	}
}

func TestRestartedSSEServerIsFoundAgainAndTheCallRunsOnce(t *testing.T) {
	p := newProbe()
	place := serveSSE(t, newMCP(p))
	box := openServers(t, place.sse("web"))
	for i := range 5 {
		mustCall(t, box, toolbox.Call{Server: "web", Tool: "touch", Arguments: note(i), Destructive: true})
		place.kill()
		place.startHandler(server.NewSSEServer(newMCP(p)))
	}
	mustCall(t, box, toolbox.Call{Server: "web", Tool: "touch", Arguments: note(5), Destructive: true})
	if got := strings.Join(p.notes(), " "); got != "0 1 2 3 4 5" {
		t.Errorf("the tool ran: %s", got)
	}
}

func TestSSEServerThatDoesNotOpenItsStreamIsReported(t *testing.T) {
	silent := newSite(t)
	stuck := make(chan struct{})
	t.Cleanup(func() { close(stuck) })
	silent.startHandler(nil)
	silent.onRequest(hangUntil(stuck))
	wrong := newSite(t)
	wrong.startHandler(http.NotFoundHandler())
	box := open(t, toolbox.Options{Servers: []toolbox.Server{silent.sse("silent"), wrong.sse("wrong")}, ConnectTimeout: soon})
	box.Tools(t.Context())
	for i, want := range []string{"no answer in time", "unexpected status code: 4"} {
		eventually(t, want, func() bool { return strings.Contains(box.States()[i].Error, want) })
	}
}

func TestAServerOfTheOlderKindIsRecognised(t *testing.T) {
	place := serveSSE(t, newMCP(nil))
	s := place.server("web")
	s.URL = strings.TrimSuffix(s.URL, "mcp") + "sse"
	box := openServers(t, s)
	box.Tools(t.Context())
	if got := box.States()[0].Error; !strings.Contains(got, "wants transport: sse") {
		t.Errorf("got %q", got)
	}
}

func TestSSEServerThatWantsAToken(t *testing.T) {
	place := newSite(t)
	place.onRequest(wantToken("canary", everything))
	place.startHandler(server.NewSSEServer(newMCP(nil)))
	box := openServers(t, place.sse("web"))
	if got := mustCall(t, box, toolbox.Call{Server: "web", Tool: "touch"}); !asksForLogin(got) {
		t.Errorf("got %+v", got)
	}
	if got := mustCall(t, box, toolbox.Call{Server: "web", Tool: "touch", Bearer: "canary", SessionID: "s-1"}); got.Text != "touched" {
		t.Errorf("got %+v", got)
	}
	if h := place.requestsWith(toolsCall)[0].header; h.Get("X-Session-ID") != "s-1" {
		t.Errorf("got %v", h)
	}
}

// askingServer is an SSE server that requests the client's roots before it answers a call, with
// the same request ID as the call.
type askingServer struct {
	mu     sync.Mutex
	stream chan string
	call   string
}

func (a *askingServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, ": hello\r\n\r\nevent: endpoint\r\ndata: /message\r\n\r\n")
		w.(http.Flusher).Flush()
		for {
			select {
			case message := <-a.stream:
				fmt.Fprintf(w, "event: message\ndata: %s\n\n", message)
				w.(http.Flusher).Flush()
			case <-r.Context().Done():
				return
			}
		}
	}
	body, _ := io.ReadAll(r.Body)
	w.WriteHeader(http.StatusAccepted)
	a.say(string(body))
}

func (a *askingServer) say(message string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	id, _, _ := strings.Cut(message[strings.Index(message, `"id":`)+5:], ",")
	switch {
	case strings.Contains(message, `"method":"initialize"`):
		a.stream <- `{"jsonrpc":"2.0","id":` + id + `,"result":{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":{"name":"a","version":"1"}}}`
	case strings.Contains(message, `"method":"tools/list"`):
		a.stream <- `{"jsonrpc":"2.0","id":` + id + `,"result":{"tools":[{"name":"ask","inputSchema":{"type":"object"}}]}}`
	case strings.Contains(message, toolsCall):
		a.call = id
		a.stream <- `{"jsonrpc":"2.0","id":` + id + `,"method":"roots/list"}`
	case strings.Contains(message, `"roots":[`):
		a.stream <- `{"jsonrpc":"2.0","id":` + a.call + `,"result":{"content":[{"type":"text","text":"thanks"}]}}`
	}
}

func TestARequestOfAnSSEServerIsNotTakenForAnAnswer(t *testing.T) {
	place := newSite(t)
	place.startHandler(&askingServer{stream: make(chan string, 10)})
	s := place.sse("web")
	s.Roots = []string{"/srv"}
	box := openServers(t, s)
	if got := mustCall(t, box, toolbox.Call{Server: "web", Tool: "ask"}); got.Text != "thanks" {
		t.Errorf("got %+v", got)
	}
	if got := place.requestsWith(`"uri":"file:///srv"`); len(got) != 1 {
		t.Errorf("the server was told %v", got)
	}
}

func TestLargeSSEAnswersArriveWhole(t *testing.T) {
	m := server.NewMCPServer("big", "1")
	big := strings.Repeat("0123456789\r\n", 1<<16)
	m.AddTool(mcp.NewTool("big"), text(big))
	box := openServers(t, serveSSE(t, m).sse("web"))
	if got := mustCall(t, box, toolbox.Call{Server: "web", Tool: "big"}).Text; got != big {
		t.Errorf("got %d bytes, want %d", len(got), len(big))
	}
}

func TestCloseEndsAnSSECall(t *testing.T) {
	p := newProbe()
	box := openServers(t, serveSSE(t, newMCP(p)).sse("web"))
	running := callAside(t.Context(), box, toolbox.Call{Server: "web", Tool: "hang", Destructive: true})
	within(t, "the tool runs", p.entered)
	if err := box.Close(); err != nil {
		t.Fatal(err)
	}
	wantKind(t, within(t, "the call ends", running).err, contract.KindOutcomeUnknown)
}

func TestSSEServerMayAnswerAtLength(t *testing.T) {
	box := openServers(t, serveSSE(t, newMCP(nil)).sse("web"))
	text := strings.Repeat("x", 3<<20)
	got := mustCall(t, box, toolbox.Call{Server: "web", Tool: "echo", Arguments: []byte(`{"text":"` + text + `"}`), Destructive: true})
	if got.Text != text {
		t.Errorf("got %d bytes", len(got.Text))
	}
}

func TestAnSSEServerWithHTTPSGetsNothingUnencrypted(t *testing.T) {
	plain := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a request went out in clear") }))
	defer plain.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, plain.URL, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := toolbox.TripOfSecureSSE(req); err == nil || !strings.Contains(err.Error(), "without encryption") {
		t.Errorf("the request went out, or failed with %v", err)
	}
}
