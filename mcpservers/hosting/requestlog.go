package hosting

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"regexp"
	"runtime/debug"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

var logSafeID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// CallerID returns the session of the calling agent, from X-Session-ID. It returns "-" if there
// is none or if it has characters that could forge a log line.
func CallerID(h http.Header) string { return logSafe(h.Get("X-Session-ID")) }

func logSafe(id string) string {
	if logSafeID.MatchString(id) {
		return id
	}
	return "-"
}

// logRequests logs one line per request after its response. It answers a panic with -32603, like
// the other transports.
func logRequests(log *slog.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		seen := &response{ResponseWriter: w, begun: make(chan struct{})}
		defer func() {
			if reason := recover(); reason != nil {
				log.Error("handler panicked", "path", r.URL.Path, "panic", reason, "stack", string(debug.Stack()))
				seen.fail()
			}
			log.Info("request", "status", seen.code(), "latency", time.Since(start), "method", r.Method,
				"path", r.URL.Path, "sid", CallerID(r.Header), "mcp_session", logSafe(seen.session(r)))
		}()
		next.ServeHTTP(seen, r.WithContext(context.WithValue(r.Context(), begunKey{}, seen.begun)))
	})
}

// begunKey is the key of a channel in the context of a request. It is closed when the response has its first bytes.
type begunKey struct{}

// response records the status and the session for the log.
type response struct {
	http.ResponseWriter
	once           sync.Once
	begun          chan struct{}
	status         int    // 0 until it is sent
	createdSession string // the session created by this request
}

func (r *response) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *response) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	defer r.once.Do(func() { close(r.begun) })
	return r.ResponseWriter.Write(b)
}

// Flush lets mcp-go stream; Unwrap lets a ResponseController set deadlines.
func (r *response) Flush() { _ = http.NewResponseController(r.ResponseWriter).Flush() }

func (r *response) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func (r *response) code() int {
	if r.status == 0 {
		return http.StatusOK
	}
	return r.status
}

// recordSession records the session that was created for this request, for the log.
func recordSession(w http.ResponseWriter, session *Session) {
	if r, ok := w.(*response); ok {
		r.createdSession = session.id
	}
}

func (r *response) session(request *http.Request) string {
	if r.createdSession != "" {
		return r.createdSession
	}
	if id := request.URL.Query().Get("sessionId"); id != "" {
		return id
	}
	return request.Header.Get(server.HeaderKeySessionID)
}

// fail sends an error response for a handler that panicked.
func (r *response) fail() {
	if r.status != 0 {
		panic(http.ErrAbortHandler) // close the connection, so that the response does not look complete
	}
	r.Header().Set("Content-Type", "application/json")
	r.WriteHeader(http.StatusInternalServerError)
	_ = json.NewEncoder(r).Encode(mcp.NewJSONRPCError(mcp.NewRequestId(nil), mcp.INTERNAL_ERROR, "internal error", nil))
}
