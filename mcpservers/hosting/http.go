package hosting

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"agent-stop-and-go/mcpservers/hosting/auth"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// heartbeat is the interval of pings on open streams. They keep proxies from closing a stream,
// and detect broken connections.
const heartbeat = 30 * time.Second

// HTTP serves MCP over HTTP. It is an [http.Handler] that can be mounted anywhere. Call
// Shutdown to release it.
type HTTP struct {
	options       Options
	server        *http.Server
	sessions      *sessions
	sse           *sse
	streamContext context.Context // ends streams of /mcp
	endStreams    context.CancelFunc
	calls         *counter
	callContext   context.Context // ends calls
	cancelCalls   context.CancelFunc
}

// NewHTTP returns the handler for s, for programs that serve more over HTTP than [Run] does. It
// ignores options.Host and options.Port.
func NewHTTP(options Options, s *server.MCPServer) *HTTP {
	options = options.withDefaults()
	h := &HTTP{options: options, calls: newCounter()}
	h.streamContext, h.endStreams = context.WithCancel(context.Background())
	h.callContext, h.cancelCalls = context.WithCancel(context.Background())
	s.Use(h.endWithServer)
	hooksOf(s).AddAfterSubscriptionsListen(awaitAcknowledgement)
	h.sessions = newSessions(options, s, h.streamContext)
	h.sse = newSSE(options, s, h.sessions)
	h.server = &http.Server{
		Handler:           h.routes(),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		ErrorLog:          slog.NewLogLogger(options.Log.Handler(), slog.LevelWarn),
	}
	go h.sessions.expire(h.streamContext)
	return h
}

func (h *HTTP) routes() http.Handler {
	checked := http.NewServeMux()
	if h.options.Transport != TransportSSE {
		checked.Handle("/mcp", h.sessions)
	}
	checked.HandleFunc("/sse", h.sse.stream)
	checked.HandleFunc("/message", h.sse.message)
	all := http.NewServeMux()
	all.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok\n") })
	admitted := limitBody(h.options.MaxBody, checked)
	rules := guardRules(h.options)
	if g := h.options.Guard; g != nil {
		admitted = g.Protect(admitted)
		all.Handle(auth.MetadataPath, rules.Handler(g.Metadata()))
		all.Handle(auth.MetadataPath+"/", rules.Handler(g.Metadata()))
	}
	all.Handle("/", rules.Handler(authenticate(h.options, admitted)))
	return limitWrites(h.options.WriteTimeout, limitReads(logRequests(h.options.Log, h.withServer(all))))
}

func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.server.Handler.ServeHTTP(w, r) }

// Serve answers requests on listener until ctx ends, and then does the same as Shutdown. It
// closes listener.
func (h *HTTP) Serve(ctx context.Context, listener net.Listener) error {
	failed := make(chan error, 1)
	go func() { failed <- h.server.Serve(listener) }()
	select {
	case err := <-failed:
		return errors.Join(err, h.Shutdown(context.WithoutCancel(ctx)))
	case <-ctx.Done():
		return h.Shutdown(context.WithoutCancel(ctx))
	}
}

// Shutdown ends streams and waits for running calls, at most until Options.Grace or ctx ends.
// It then cancels the remaining calls and closes their connections.
func (h *HTTP) Shutdown(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, h.options.Grace)
	defer cancel()
	defer h.cancelCalls()
	down := make(chan error, 1)
	go func() { down <- h.server.Shutdown(ctx) }()
	h.endStreams()
	h.sse.end(ctx)
	h.calls.wait(ctx)
	err := <-down
	if errors.Is(err, context.DeadlineExceeded) {
		h.cancelCalls()
		err = h.server.Close()
	}
	return err
}

type serverKey struct{}

func (h *HTTP) withServer(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), serverKey{}, h)))
	})
}

// endWithServer cancels calls that exceed the grace period of a shutdown. It is needed for SSE,
// because mcp-go does not run such calls in the context of a request.
func (h *HTTP) endWithServer(next server.ToolHandlerFunc) server.ToolHandlerFunc {
	return func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if ctx.Value(serverKey{}) != h {
			return next(ctx, request)
		}
		h.calls.add(1)
		defer h.calls.add(-1)
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(h.callContext, cancel)()
		return next(ctx, request)
	}
}
