package hosting

import (
	"bytes"
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/server"
)

// sse serves the HTTP+SSE transport of protocol 2024-11-05. Requests are posted to /message and
// answered on the stream of /sse. The session ends with the stream.
type sse struct {
	mcp           *server.SSEServer
	sessions      *sessions
	streamContext context.Context // ends streams
	endStreams    context.CancelFunc

	mu   sync.Mutex
	open map[string]*pendingRequests
}

func newSSE(options Options, s *server.MCPServer, all *sessions) *sse {
	e := &sse{sessions: all, open: map[string]*pendingRequests{}}
	e.streamContext, e.endStreams = context.WithCancel(context.Background())
	e.mcp = server.NewSSEServer(s,
		server.WithSessionIDGenerator(func(ctx context.Context, _ *http.Request) (string, error) {
			session, ok := SessionFrom(ctx)
			if !ok {
				return "", ErrNoSession
			}
			return session.id, nil
		}),
		server.WithKeepAliveInterval(heartbeat),
		server.WithSSECORS(cors(options)...),
		server.WithSSEDisableLocalhostProtection(true), // package guard checks more
	)
	return e
}

func (e *sse) stream(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		e.mcp.ServeHTTP(w, r) // preflights, and 405
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(e.streamContext, cancel)()
	session, err := e.sessions.create(ctx, ssePrefix)
	if err != nil {
		e.sessions.refuse(w, err)
		return
	}
	recordSession(w, session)
	defer e.sessions.track(session.id, &cancel)()
	pending := e.addStream(session.id)
	defer e.removeStream(context.WithoutCancel(ctx), session)
	e.mcp.ServeHTTP(&answerWriter{w, pending}, r.WithContext(withSession(ctx, session)))
}

func (e *sse) message(w http.ResponseWriter, r *http.Request) {
	id := r.URL.Query().Get("sessionId")
	e.mu.Lock()
	pending, ok := e.open[id]
	e.mu.Unlock()
	if body, isRead := r.Body.(*bufferedBody); ok && isRead {
		pending.addRequest(body.text)
		r = r.WithContext(withSession(r.Context(), &Session{id, e.sessions.options.Sessions}))
	}
	e.mcp.ServeHTTP(w, r) // refuses an id without a stream
}

func (e *sse) addStream(id string) *pendingRequests {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.open[id] = &pendingRequests{counter: newCounter(), ids: map[string]int{}}
	return e.open[id]
}

func (e *sse) removeStream(ctx context.Context, session *Session) {
	e.mu.Lock()
	delete(e.open, session.id)
	e.mu.Unlock()
	if err := session.store.Delete(ctx, session.id); err != nil {
		e.sessions.options.Log.Error("session store failed", "err", err)
	}
}

// end closes all streams when their calls have been answered, or when ctx ends.
func (e *sse) end(ctx context.Context) {
	e.mu.Lock()
	all := slices.Collect(maps.Values(e.open))
	e.mu.Unlock()
	for _, pending := range all {
		pending.wait(ctx)
	}
	e.endStreams()
}

// answerWriter registers the answers on a stream. mcp-go writes each event with one call.
type answerWriter struct {
	http.ResponseWriter
	pending *pendingRequests
}

func (a *answerWriter) Write(event []byte) (int, error) {
	n, err := a.ResponseWriter.Write(event)
	if _, data, ok := bytes.Cut(event, []byte("data:")); ok {
		a.pending.removeAnswered(bytes.TrimSpace(data))
	}
	return n, err
}

func (a *answerWriter) Flush() { _ = http.NewResponseController(a.ResponseWriter).Flush() }

func (a *answerWriter) Unwrap() http.ResponseWriter { return a.ResponseWriter }
