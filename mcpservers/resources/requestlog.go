package resources

import (
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/server"
)

var wellFormedSession = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// sessionID returns the session the calling agent works for, "-" when there is
// none or when it could forge a log line.
func sessionID(h http.Header) string {
	if id := h.Get("X-Session-ID"); wellFormedSession.MatchString(id) {
		return id
	}
	return "-"
}

func mcpSessionID(h http.Header) string {
	if id := h.Get(server.HeaderKeySessionID); wellFormedSession.MatchString(id) {
		return id
	}
	return "-"
}

func logRequests(log *slog.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		seen := &response{ResponseWriter: w, status: http.StatusOK, post: r.Method == http.MethodPost}
		next.ServeHTTP(seen, r)
		log.Info("request", "status", seen.status, "latency", time.Since(start), "method", r.Method,
			"path", r.URL.Path, "sid", sessionID(r.Header), "mcp_session", mcpSessionID(r.Header))
	})
}

// response notes the status for the log. It also answers 400 where mcp-go says
// 404 to a request whose Mcp-Session-Id is missing or malformed: that is what
// clients of this server were promised, and there is no session to renew.
type response struct {
	http.ResponseWriter
	status int
	post   bool
}

func (r *response) WriteHeader(status int) {
	plain := strings.HasPrefix(r.Header().Get("Content-Type"), "text/plain")
	if status == http.StatusNotFound && plain && r.post {
		status = http.StatusBadRequest
	}
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

// Flush lets mcp-go stream; Unwrap lets a ResponseController set deadlines.
func (r *response) Flush() { _ = http.NewResponseController(r.ResponseWriter).Flush() }

func (r *response) Unwrap() http.ResponseWriter { return r.ResponseWriter }
