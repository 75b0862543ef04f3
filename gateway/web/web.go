package web

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"agent-stop-and-go/gateway/identity/cookie"
	"agent-stop-and-go/gateway/page"
	"agent-stop-and-go/gateway/web/tooltoken"
	"agent-stop-and-go/mcpservers/hosting/guard"
)

// Options are the settings of a web process.
type Options struct {
	// Agent is the address of the agent's gateway, without a slash at the end.
	Agent *url.URL
	// Base is the URL at which browsers reach the process, without a slash at the end; "" if it is that of each request.
	Base string
	// Hosts are names of the process besides those of loopback.
	Hosts []string
	// Headers are headers that requests may have besides those of the API.
	Headers []string
	// Tools is the login for tools; nil without one. ToolServer is the host of its login server.
	Tools      *tooltoken.Login
	ToolServer string
	Logger     *slog.Logger
}

// Web is the handler. It is safe for concurrent use.
type Web struct {
	agent      *agent
	base       string
	forwarded  []string
	tools      *tooltoken.Login
	toolServer string
	jar        *cookie.Jar // for what the cookies of this process would be
	door       guard.Rules
	logger     *slog.Logger
	handler    http.Handler
	proxy      http.Handler
	transport  *http.Transport

	closing context.Context // ends when streams have to
	close   context.CancelFunc
}

// New makes the handler. It must be closed.
func New(o Options) *Web {
	s := &Web{
		base: o.Base, tools: o.Tools, toolServer: o.ToolServer, jar: &cookie.Jar{PublicURL: o.Base, Now: time.Now},
		door: guard.Rules{Hosts: o.Hosts}, logger: cmp.Or(o.Logger, slog.Default()), transport: newTransport(),
	}
	for _, name := range slices.Concat(apiHeaders, o.Headers) {
		s.forwarded = append(s.forwarded, http.CanonicalHeaderKey(name))
	}
	s.closing, s.close = context.WithCancel(context.Background())
	s.agent, s.proxy = newAgent(o.Agent, s.transport), s.newProxy(s.transport)
	s.handler = s.routes()
	return s
}

// routes returns the routes. What is none of this process is one of the agent, or of nobody.
func (s *Web) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.home)
	mux.HandleFunc("GET /page/{name}", s.file)
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
	})
	if s.tools != nil {
		s.tools.Register(mux)
	}
	mux.HandleFunc("/", s.serveAgent)
	return mux
}

// ownHeaders are in every reply. The agent sends the same ones.
var ownHeaders = map[string]string{"X-Content-Type-Options": "nosniff", "X-Frame-Options": "SAMEORIGIN"}

// ServeHTTP implements http.Handler.
func (s *Web) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	begun, out := time.Now(), &recorder{ResponseWriter: w}
	defer func() {
		attrs := []any{"method", r.Method, "path", r.URL.Path, "status", out.status, "latency", time.Since(begun)}
		if sid := out.Header().Get("X-Session-Id"); sid != "" { // the agent has it in its log too
			attrs = append(attrs, "sid", sid)
		}
		s.logger.Log(r.Context(), level(out.status), "request", attrs...)
	}()
	for name, value := range ownHeaders {
		out.Header().Set(name, value)
	}
	if refused := s.door.Check(r); refused != nil && r.URL.Path != "/health" {
		writeError(out, refused.Status, refused.Text)
		return
	}
	s.handler.ServeHTTP(out, r)
}

// Close ends all streams. Other requests are still served.
func (s *Web) Close() {
	s.close()
	s.transport.CloseIdleConnections()
}

// home serves the page; programs get the links of the agent.
func (s *Web) home(w http.ResponseWriter, r *http.Request) {
	w.Header().Add("Vary", "Accept")
	if !strings.Contains(r.Header.Get("Accept"), "text/html") {
		s.serveAgent(w, r)
		return
	}
	about, err := s.agent.about.get(r.Context())
	if err != nil {
		s.logger.Warn("the agent says nothing of itself", "error", err)
		about.Name = cmp.Or(about.Name, "Agent")
	}
	about.ToolLogin = s.toolServer
	page.New(about).Document(w, r)
}

// static has the files of the page, which are those of every agent.
var static = page.New(page.Agent{})

func (s *Web) file(w http.ResponseWriter, r *http.Request) {
	if !static.File(w, r, r.PathValue("name")) {
		writeError(w, http.StatusNotFound, "the page has no such file")
	}
}

// Check asks the agent what it is, for the log of a start. openNetwork tells that others than this
// machine reach the process.
func (s *Web) Check(ctx context.Context, openNetwork bool) {
	about, err := s.agent.about.get(ctx)
	if err != nil {
		s.logger.Warn("the agent cannot be reached yet", "agent", s.agent.url.Redacted(), "error", err)
		return
	}
	closed, err := s.agent.closed.get(ctx)
	if err == nil && !closed && openNetwork {
		s.logger.Warn("the agent does not ask who calls: whoever reaches this process may use it; set auth in the agent's file", "agent", about.Name)
	}
}

func level(status int) slog.Level {
	switch {
	case status >= http.StatusInternalServerError:
		return slog.LevelError
	case status >= http.StatusBadRequest:
		return slog.LevelWarn
	}
	return slog.LevelInfo
}

// recorder keeps the status of a reply.
type recorder struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 || r.status < http.StatusOK {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController, which flushes streams.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
