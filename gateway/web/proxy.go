package web

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"slices"
	"strings"
	"time"
)

// Headers of the token for tools.
const (
	headerBearer = "Authorization"
	headerTools  = "X-Tool-Authorization"
)

// apiHeaders are the headers that the API knows.
var apiHeaders = []string{
	"A2a-Extensions", "A2a-Version", "Accept", "Accept-Encoding", "Accept-Language", headerBearer, "Cache-Control", "Content-Type", "Idempotency-Key",
	"If-None-Match", "Last-Event-Id", "Prefer", "Range", "Traceparent", "Tracestate", "User-Agent", "X-Csrf-Token", "X-Session-Id", headerTools, "X-User",
}

// The agent answers a request that waits within its request_timeout, which is 60 seconds if it says
// nothing else.
const (
	connectTime = 5 * time.Second
	headerTime  = 10 * time.Minute
	idleTime    = 90 * time.Second
	maxIdle     = 200
)

// newTransport returns the connections to the agent. Bodies stay as they are compressed.
func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: connectTime, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:   connectTime,
		ResponseHeaderTimeout: headerTime,
		IdleConnTimeout:       idleTime,
		MaxIdleConns:          maxIdle,
		MaxIdleConnsPerHost:   maxIdle,
		ForceAttemptHTTP2:     true,
		DisableCompression:    true,
	}
}

// newProxy returns the proxy. Whatever the agent writes goes on at once.
func (s *Web) newProxy(transport http.RoundTripper) *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Transport: transport, FlushInterval: -1, Rewrite: s.rewrite, ModifyResponse: s.adapt, ErrorHandler: s.lost,
		ErrorLog: slog.NewLogLogger(s.logger.Handler(), slog.LevelDebug),
	}
}

type tokenKey struct{}

// token is the token for tools of a request, and its header.
type token struct{ header, value string }

// serveAgent passes a request on.
func (s *Web) serveAgent(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	if value := s.toolToken(r); value != "" {
		closed, err := s.agent.closed.get(ctx)
		if err != nil {
			s.lost(w, r, err)
			return
		}
		header := headerBearer
		if closed {
			header = headerTools
		}
		ctx = context.WithValue(ctx, tokenKey{}, token{header, value})
	}
	if strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(s.closing, cancel)()
	}
	s.proxy.ServeHTTP(w, r.WithContext(ctx))
}

// toolToken returns the token for tools of a request that brings none itself, or "".
func (s *Web) toolToken(r *http.Request) string {
	if s.tools == nil || r.Header.Get(headerBearer) != "" || r.Header.Get(headerTools) != "" {
		return ""
	}
	return s.tools.Token(r)
}

// rewrite makes the request to the agent.
func (s *Web) rewrite(p *httputil.ProxyRequest) {
	p.SetURL(s.agent.url)
	p.Out.Header = http.Header{}
	for _, name := range s.forwarded {
		if values := p.In.Header.Values(name); len(values) > 0 {
			p.Out.Header[name] = values
		}
	}
	if p.In.Header.Get("User-Agent") == "" {
		p.Out.Header.Set("User-Agent", "") // otherwise it is that of a Go program
	}
	s.setCookies(p)
	p.SetXForwarded()
	if s.jar.Secure(p.In) {
		p.Out.Header.Set("X-Forwarded-Proto", "https")
	}
	if t, ok := p.In.Context().Value(tokenKey{}).(token); ok {
		p.Out.Header.Set(t.header, "Bearer "+t.value)
	}
}

// setCookies leaves out the cookies of this process.
func (s *Web) setCookies(p *httputil.ProxyRequest) {
	var own []string
	if s.tools != nil {
		own = s.tools.Cookies(p.In)
	}
	for _, c := range p.In.Cookies() {
		if !slices.Contains(own, c.Name) {
			p.Out.AddCookie(c)
		}
	}
}

// adapt has redirects of the agent to itself lead here, and drops headers that a reply has already.
func (s *Web) adapt(reply *http.Response) error {
	for name, value := range ownHeaders {
		if reply.Header.Get(name) == value {
			reply.Header.Del(name)
		}
	}
	if rest, ok := strings.CutPrefix(reply.Header.Get("Location"), s.agent.url.String()+"/"); ok {
		reply.Header.Set("Location", s.base+"/"+rest)
	}
	if t, ok := reply.Request.Context().Value(tokenKey{}).(token); ok && t.header == headerBearer && reply.StatusCode == http.StatusUnauthorized {
		s.agent.closed.forget() // it may ask who calls since a moment ago
	}
	return nil
}

const textLost = "the agent cannot be reached: it may be starting; the log of the web process says more"

// lost answers a request that the agent has not answered.
func (s *Web) lost(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil && errors.Is(err, context.Canceled) {
		return // nobody waits for it
	}
	s.logger.Error("the agent cannot be reached", "agent", s.agent.url.Redacted(), "error", err)
	writeError(w, http.StatusBadGateway, textLost)
}

func writeError(w http.ResponseWriter, status int, text string) {
	writeJSON(w, status, map[string]string{"error": text})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may have left
}
