package resources

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/mark3labs/mcp-go/server"
)

const (
	maxBody       = 1 << 20 // bytes of one request
	bodyTimeout   = 30 * time.Second
	sessionTTL    = time.Hour
	shutdownLimit = 5 * time.Second
)

// HTTP serves MCP over Streamable HTTP at /mcp, and "ok" at /health. As an
// [http.Handler] it can be mounted anywhere; call Shutdown when done with it.
type HTTP struct {
	server *http.Server
	stream *server.StreamableHTTPServer
}

// NewHTTP wraps s. A session id only has to be well formed, so clients carry on
// after a restart of this process without a new handshake.
func NewHTTP(s *server.MCPServer, log *slog.Logger) *HTTP {
	srv := &http.Server{
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	stream := server.NewStreamableHTTPServer(s,
		server.WithStreamableHTTPServer(srv),
		server.WithSessionIdManager(&server.StatelessGeneratingSessionIdManager{}),
		server.WithSessionIdleTTL(sessionTTL),
		server.WithStreamableHTTPLogger(log),
	)
	mux := http.NewServeMux()
	mux.Handle("/mcp", logRequests(log, limitBody(stream)))
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok\n") })
	srv.Handler = mux
	return &HTTP{server: srv, stream: stream}
}

func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.server.Handler.ServeHTTP(w, r) }

// Serve answers requests on listener, which it closes, until ctx ends. Calls
// that are running then get five seconds to finish; open streams are ended.
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

// Shutdown ends streams, waits for running calls for at most five seconds and
// then cuts the connections that are left.
func (h *HTTP) Shutdown(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, shutdownLimit)
	defer cancel()
	err := h.stream.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = h.server.Close()
	}
	return err
}

// limitBody reads the whole body before mcp-go does: too large is 413 there and
// not a parse error, and a slow sender cannot hold a connection, while streams
// still live without a deadline.
func limitBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		deadline := http.NewResponseController(w)
		_ = deadline.SetReadDeadline(time.Now().Add(bodyTimeout))
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
			http.Error(w, "Request body over 1 MiB", http.StatusRequestEntityTooLarge)
			return
		}
		if err != nil {
			http.Error(w, "Request body could not be read", http.StatusBadRequest)
			return
		}
		_ = deadline.SetReadDeadline(time.Time{})
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}
