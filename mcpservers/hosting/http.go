package hosting

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// heartbeat is how often an open stream is written to, so that proxies keep it
// and dead ones are noticed.
const heartbeat = 30 * time.Second

// HTTP serves MCP over HTTP. As an [http.Handler] it can be mounted anywhere;
// call Shutdown when done with it.
type HTTP struct {
	options  Options
	server   *http.Server
	sessions *sessions
	sse      *sse
	stopping context.Context // ends streams of /mcp
	stop     context.CancelFunc
	calls    *counter
	cutting  context.Context // ends calls
	cut      context.CancelFunc
}

// NewHTTP wraps s, for programs that do more over HTTP than [Run] does. It
// ignores options.Host and options.Port.
func NewHTTP(options Options, s *server.MCPServer) *HTTP {
	options = options.withDefaults()
	h := &HTTP{options: options, calls: newCounter()}
	h.stopping, h.stop = context.WithCancel(context.Background())
	h.cutting, h.cut = context.WithCancel(context.Background())
	s.Use(h.endWithServer)
	h.sessions = newSessions(options, s, h.stopping)
	h.sse = newSSE(options, s, h.sessions)
	h.server = &http.Server{
		Handler:           h.routes(),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		ErrorLog:          slog.NewLogLogger(options.Log.Handler(), slog.LevelWarn),
	}
	go h.sessions.expire(h.stopping)
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
	all.Handle("/", guardRules(h.options).Handler(authenticate(h.options, limitBody(h.options.MaxBody, checked))))
	return limitWrites(h.options.WriteTimeout, limitReads(observe(h.options.Log, h.withServer(all))))
}

func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.server.Handler.ServeHTTP(w, r) }

// Serve answers requests on listener, which it closes, until ctx ends, and then
// does what Shutdown does.
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

// Shutdown ends streams, waits for running calls as long as Options.Grace and
// ctx allow, and then cancels the calls and cuts the connections that are left.
func (h *HTTP) Shutdown(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, h.options.Grace)
	defer cancel()
	defer h.cut()
	down := make(chan error, 1)
	go func() { down <- h.server.Shutdown(ctx) }()
	h.stop()
	h.sse.end(ctx)
	h.calls.wait(ctx)
	err := <-down
	if errors.Is(err, context.DeadlineExceeded) {
		h.cut()
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

// endWithServer cancels calls that outlive the grace given at the end: mcp-go
// runs those that came over SSE apart from any request.
func (h *HTTP) endWithServer(next server.ToolHandlerFunc) server.ToolHandlerFunc {
	return func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if ctx.Value(serverKey{}) != h {
			return next(ctx, request)
		}
		h.calls.add(1)
		defer h.calls.add(-1)
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(h.cutting, cancel)()
		return next(ctx, request)
	}
}
