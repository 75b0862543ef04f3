package toolbox_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"agent-stop-and-go/activities/toolbox"
)

// site is an address at which an HTTP server can be started, killed and restarted.
type site struct {
	t    *testing.T
	addr string
	srv  *http.Server

	mu       sync.Mutex
	requests []seenRequest
	// intercept may answer a request itself. It may be nil.
	intercept func(w http.ResponseWriter, r *http.Request, body string) bool
}

// seenRequest is a request that arrived.
type seenRequest struct {
	method, body string
	header       http.Header
}

func newSite(t *testing.T) *site {
	t.Helper()
	host := "127.0.0.1"
	if runtime.GOOS == "linux" { // 127/8 is loopback: another address prevents that another process gets the port between servers
		host = fmt.Sprintf("127.%d.%d.%d", 1+rand.N(254), rand.N(256), 1+rand.N(254))
	}
	l, err := net.Listen("tcp", host+":0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s := &site{t: t, addr: l.Addr().String()}
	t.Cleanup(s.kill)
	return s
}

// serve starts a stateful MCP server. It does not know the sessions of an earlier one.
func serve(t *testing.T, m *server.MCPServer) *site {
	t.Helper()
	s := newSite(t)
	s.start(m)
	return s
}

func (s *site) server(name string) toolbox.Server {
	return toolbox.Server{Name: name, URL: "http://" + s.addr + "/mcp"}
}

func (s *site) start(m *server.MCPServer) {
	s.t.Helper()
	s.startHandler(server.NewStreamableHTTPServer(m, server.WithStateful(true)))
}

func (s *site) startHandler(h http.Handler) {
	s.t.Helper()
	var l net.Listener
	eventually(s.t, "the address is free", func() (ok bool) {
		var err error
		l, err = net.Listen("tcp", s.addr)
		return err == nil
	})
	s.srv = &http.Server{Handler: s.watch(h)}
	go func(srv *http.Server) { _ = srv.Serve(l) }(s.srv)
}

// kill breaks every connection, as a crash would.
func (s *site) kill() {
	if s.srv != nil {
		_ = s.srv.Close()
		s.srv = nil
	}
}

func (s *site) watch(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		s.mu.Lock()
		s.requests = append(s.requests, seenRequest{method: r.Method, body: string(body), header: r.Header.Clone()})
		intercept := s.intercept
		s.mu.Unlock()
		if intercept != nil && intercept(w, r, string(body)) {
			return
		}
		h.ServeHTTP(w, r)
	})
}

func (s *site) onRequest(f func(w http.ResponseWriter, r *http.Request, body string) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.intercept = f
}

// forMessages reports whether a request opens the stream of server messages.
func forMessages(r *http.Request, body string) bool {
	return r.Method == http.MethodGet || strings.Contains(body, "subscriptions/listen")
}

// withhold leaves requests without an answer, and sends each of them to a channel.
func (s *site) withhold(which func(*http.Request, string) bool) <-chan struct{} {
	asked := make(chan struct{}, 100)
	before := s.intercept
	s.onRequest(func(w http.ResponseWriter, r *http.Request, body string) bool {
		if which(r, body) {
			asked <- struct{}{}
			<-r.Context().Done()
			return true
		}
		return before != nil && before(w, r, body)
	})
	return asked
}

// requestsWith returns the requests whose body contains part.
func (s *site) requestsWith(part string) []seenRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []seenRequest
	for _, r := range s.requests {
		if strings.Contains(r.body, part) {
			out = append(out, r)
		}
	}
	return out
}

// methods returns the requests with a method.
func (s *site) methods(method string) []seenRequest {
	var out []seenRequest
	for _, r := range s.requestsWith("") {
		if r.method == method {
			out = append(out, r)
		}
	}
	return out
}

// awaitStream waits until the client has opened the stream of server messages.
func (s *site) awaitStream() {
	s.t.Helper()
	eventually(s.t, "the client listens", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, r := range s.requests {
			if r.method == http.MethodGet {
				return true
			}
		}
		return false
	})
}

const toolsCall = `"method":"tools/call"`

// cutCalls closes the connection after it has read a tools/call.
func cutCalls(w http.ResponseWriter, _ *http.Request, body string) bool {
	if !strings.Contains(body, toolsCall) {
		return false
	}
	if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
		conn.Close()
	}
	return true
}

const soon = 300 * time.Millisecond
