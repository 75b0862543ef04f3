package llmtest

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
)

// Server speaks the wire formats of model providers, each on its API's paths. Queued answers
// do not depend on the format of the request.
type Server struct {
	http *httptest.Server
	end  context.CancelFunc // releases hanging answers
	once sync.Once

	mu       sync.Mutex
	key      string
	keep     bool
	queue    []Answer
	always   Answer
	requests []Request
	refused  []string
	served   int
}

// Request is a request that the server received.
type Request struct {
	Method, Path string
	Header       http.Header
	Body         []byte
}

// Answer writes an answer to a valid request, whose body it may read. Hanging answers end with the
// request's context, which also ends when the server closes.
type Answer func(w http.ResponseWriter, r *http.Request)

// NewServer starts a server on a free port of the loopback address.
func NewServer() *Server {
	s := newServer()
	s.http.Start()
	return s
}

// NewTLSServer starts a server with a certificate that only Trust knows.
func NewTLSServer() *Server {
	s := newServer()
	s.http.StartTLS()
	return s
}

func newServer() *Server {
	ctx, cancel := context.WithCancel(context.Background())
	s := &Server{end: cancel, keep: true}
	s.http = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	s.http.Config.BaseContext = func(net.Listener) context.Context { return ctx }
	s.http.Config.ErrorLog = log.New(io.Discard, "", 0) // tests break connections on purpose
	return s
}

// URL is the base URL, as OPENAI_BASE_URL takes it.
func (s *Server) URL() string { return s.http.URL + "/v1" }

// Trust is a TLS configuration that trusts the server's certificate.
func (s *Server) Trust() *tls.Config {
	pool := x509.NewCertPool()
	if cert := s.http.Certificate(); cert != nil {
		pool.AddCert(cert)
	}
	return &tls.Config{RootCAs: pool}
}

// Close ends hanging answers and stops the server. Closing twice is harmless.
func (s *Server) Close() {
	s.once.Do(func() {
		s.end()
		s.http.CloseClientConnections()
		s.http.Close()
	})
}

// Reply queues answers, one for each request.
func (s *Server) Reply(answers ...Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, answers...)
}

// Always sets the answer to every request that finds the queue empty.
func (s *Server) Always(a Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.always = a
}

// RequireKey refuses requests without this key, with a 401 like
// the real one. Without it, any token or none will do.
func (s *Server) RequireKey(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.key = key
}

// KeepRequests sets whether requests are recorded; benchmarks turn it off.
func (s *Server) KeepRequests(keep bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep = keep
}

// Requests lists the requests received, in order of arrival.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Served is the number of requests received.
func (s *Server) Served() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.served
}

// Refused lists what was wrong with requests that broke the API's rules.
func (s *Server) Refused() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.refused)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if problem := s.check(r, body); problem != nil {
		refuse(w, r, problem)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.take()(w, r)
}

// check records the request and returns what is wrong with it.
func (s *Server) check(r *http.Request, body []byte) *apiError {
	wire := wireOf(r.URL.Path)
	problem := wire.validate(r, body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.served++
	if s.keep {
		s.requests = append(s.requests, Request{Method: r.Method, Path: r.URL.Path, Header: r.Header.Clone(), Body: body})
	}
	if s.key != "" && wire.key(r) != s.key {
		return &apiError{http.StatusUnauthorized, "Incorrect API key provided.", "invalid_request_error", "", "invalid_api_key"}
	}
	if problem != nil {
		s.refused = append(s.refused, problem.Message)
	}
	return problem
}

func (s *Server) take() Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) > 0 {
		a := s.queue[0]
		s.queue = s.queue[1:]
		return a
	}
	if s.always != nil {
		return s.always
	}
	return Fail(http.StatusBadRequest, fmt.Sprintf("llmtest: no answer was scripted for request %d", s.served))
}
