package peer_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"agent-stop-and-go/activities/peer"
	"agent-stop-and-go/workflows/contract"
)

// request is a received request.
type request struct {
	Path   string
	Query  string
	Method string          `json:"method"`
	ID     json.RawMessage `json:"id"`
	Params json.RawMessage `json:"params"`
	Header http.Header
}

// remote is an agent on its own port. It records its requests.
type remote struct {
	*httptest.Server
	// InsteadFn may answer a request itself.
	InsteadFn func(w http.ResponseWriter, r request) bool
	mu        sync.Mutex
	seen      []request
}

// serve starts an agent that answers at /a2a, with a card.
func serve(t *testing.T, card any, handler http.Handler) *remote {
	t.Helper()
	r := &remote{}
	mux := http.NewServeMux()
	if card != nil {
		mux.HandleFunc("GET /.well-known/agent-card.json", func(w http.ResponseWriter, _ *http.Request) {
			_ = json.NewEncoder(w).Encode(card)
		})
	}
	mux.HandleFunc("POST /", func(w http.ResponseWriter, req *http.Request) {
		if in := r.note(req); r.InsteadFn == nil || !r.InsteadFn(w, in) {
			handler.ServeHTTP(w, req)
		}
	})
	r.Server = httptest.NewServer(mux)
	t.Cleanup(r.Close)
	return r
}

func (r *remote) note(req *http.Request) request {
	body, _ := io.ReadAll(req.Body)
	req.Body = io.NopCloser(bytes.NewReader(body))
	in := request{Header: req.Header, Path: req.URL.Path, Query: req.URL.RawQuery}
	_ = json.Unmarshal(body, &in)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, in)
	return in
}

// calledMethods returns the called methods.
func (r *remote) calledMethods() []string {
	var out []string
	for _, in := range r.requests() {
		out = append(out, in.Method)
	}
	return out
}

func (r *remote) requests() []request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.seen)
}

// executor is the work of one turn of an agent made with the official library.
type executor func(ctx context.Context, in *a2asrv.ExecutorContext, say func(a2a.Event))

func (e executor) Execute(ctx context.Context, in *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		if in.StoredTask == nil {
			yield(a2a.NewSubmittedTask(in, in.Message), nil)
		}
		e(ctx, in, func(ev a2a.Event) { yield(ev, nil) })
	}
}

func (e executor) Cancel(_ context.Context, in *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		yield(a2a.NewStatusUpdateEvent(in, a2a.TaskStateCanceled, nil), nil)
	}
}

// status returns a status event, with an optional message.
func status(in a2a.TaskInfoProvider, s a2a.TaskState, parts ...*a2a.Part) a2a.Event {
	var m *a2a.Message
	if len(parts) > 0 {
		m = a2a.NewMessageForTask(a2a.MessageRoleAgent, in, parts...)
	}
	return a2a.NewStatusUpdateEvent(in, s, m)
}

func says(text string) *a2a.Part { return a2a.NewTextPart(text) }

// flavour is a protocol that the official library supports.
type flavour struct {
	version   a2a.ProtocolVersion
	streaming bool
}

var flavours = map[string]flavour{
	"1.0": {a2a.Version, false}, "1.0 streaming": {a2a.Version, true},
	"0.3": {a2av0.Version, false}, "0.3 streaming": {a2av0.Version, true},
}

// serveLibrary starts an agent made with the official library.
func serveLibrary(t *testing.T, f flavour, e executor) *remote {
	t.Helper()
	caps := a2a.AgentCapabilities{Streaming: f.streaming}
	handler := a2asrv.NewHandler(e, a2asrv.WithLogger(slog.New(slog.DiscardHandler)))
	card := &a2a.AgentCard{Name: "lib", Capabilities: caps, Version: "1", Skills: []a2a.AgentSkill{{ID: "s", Name: "echo"}}}
	face := &a2a.AgentInterface{ProtocolBinding: a2a.TransportProtocolJSONRPC, ProtocolVersion: f.version}
	card.SupportedInterfaces = []*a2a.AgentInterface{face}
	if f.version == a2a.Version {
		face.URL = "http://0.0.0.0:1/a2a"
		return serve(t, card, a2asrv.NewJSONRPCHandler(handler))
	}
	return serve(t, map[string]any{
		"name": "lib", "protocolVersion": "0.3.0", "url": "http://0.0.0.0:1/a2a", "capabilities": caps,
	}, a2av0.NewJSONRPCHandler(handler))
}

// eachFlavour runs a test with every flavour.
func eachFlavour(t *testing.T, f func(t *testing.T, f flavour)) {
	for name, fl := range flavours {
		t.Run(name, func(t *testing.T) { f(t, fl) })
	}
}

// peers returns a client that polls without pauses.
func peers(t *testing.T, o peer.Options) *peer.Peers {
	t.Helper()
	o.Wait = cmp.Or(o.Wait, 20*time.Minute) // a busy machine takes half a minute for an answer of some MB
	if o.Pause == nil {
		o.Pause = func(context.Context, time.Duration) {}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	p := peer.New(o)
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// withLongerWaits calls try with ever longer Waits until one is long enough for a busy machine.
// Every pause between polls lasts until the Wait ends.
func withLongerWaits(t *testing.T, try func(p *peer.Peers) bool) {
	t.Helper()
	for wait := 200 * time.Millisecond; wait < 2*time.Minute; wait *= 4 {
		if try(peers(t, peer.Options{Wait: wait, OldWait: wait, Pause: untilWaitEnds})) {
			return
		}
	}
}

func untilWaitEnds(ctx context.Context, _ time.Duration) { <-ctx.Done() }

// peersWithPauses returns a client that pauses between polls, for tests in which the library's
// server needs time to end a turn.
func peersWithPauses(t *testing.T) *peer.Peers {
	t.Helper()
	return peers(t, peer.Options{Pause: func(ctx context.Context, d time.Duration) {
		select {
		case <-ctx.Done():
		case <-time.After(d):
		}
	}})
}

func to(r *remote) contract.Peer { return contract.Peer{Name: "writer", URL: r.URL + "/a2a"} }

// start returns a message that starts a task.
func start(r *remote, text string) peer.Message {
	return peer.Message{Peer: to(r), MessageID: "m1", Text: text}
}

// send sends a message that must succeed.
func send(t *testing.T, p *peer.Peers, m peer.Message) peer.Reply {
	t.Helper()
	reply, err := p.Send(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

// wantFailure sends a message that must fail with this kind.
func wantFailure(t *testing.T, p *peer.Peers, m peer.Message, kind contract.Kind) *peer.Error {
	t.Helper()
	_, err := p.Send(t.Context(), m)
	return failed(t, err, kind)
}

func failed(t *testing.T, err error, kind contract.Kind) *peer.Error {
	t.Helper()
	failure, ok := err.(*peer.Error)
	if !ok || failure.Kind != kind {
		t.Fatalf("got %v; expected %s", err, kind)
	}
	return failure
}

func same[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		t.Errorf("%s: got %s, expected %s", what, g, w)
	}
}

func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q does not have %q", text, part)
		}
	}
}

// rpc answers a request: a result, or an error for a map with the key code.
func rpc(w io.Writer, r request, result any) {
	key := "result"
	if m, ok := result.(map[string]any); ok && m["code"] != nil {
		key = "error"
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": r.ID, key: result})
}

// serveScript starts an agent that answers with a function.
func serveScript(t *testing.T, card any, answer func(w http.ResponseWriter, r request)) *remote {
	t.Helper()
	r := serve(t, card, http.NotFoundHandler())
	var one sync.Mutex // one request at a time
	r.InsteadFn = func(w http.ResponseWriter, in request) bool {
		one.Lock()
		defer one.Unlock()
		answer(w, in)
		return true
	}
	return r
}

// card10 returns a card of 1.0, card03 one of 0.3.
func card10(streaming bool) any {
	return map[string]any{
		"name": "by hand", "version": "1", "capabilities": map[string]any{"streaming": streaming},
		"supportedInterfaces": []any{map[string]any{"url": "/a2a", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}},
	}
}

func card03(streaming bool) any {
	return map[string]any{
		"name": "by hand", "protocolVersion": "0.3.0", "url": "/a2a", "capabilities": map[string]any{"streaming": streaming},
	}
}

// taskOf returns a task of 1.0.
func taskOf(state, text string) map[string]any {
	return map[string]any{"id": "t1", "contextId": "c1", "status": map[string]any{
		"state": state, "message": map[string]any{"messageId": "a1", "role": "ROLE_AGENT", "parts": []any{map[string]any{"text": text}}},
	}}
}

func mustJSON(v any) []byte {
	out, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return out
}
