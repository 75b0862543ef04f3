package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"agent-stop-and-go/config"
	"agent-stop-and-go/gateway"
)

// Listen listens on the configured address. Call it first: a port in use is a common problem,
// and it is found at once.
func Listen(c *config.Config) (net.Listener, error) {
	address := net.JoinHostPort(c.Host, strconv.Itoa(c.Port))
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w: stop the other process or set port in the YAML", address, err)
	}
	return l, nil
}

// URL returns a URL that a browser on this machine can open.
func URL(l net.Listener) string {
	host, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return "http://" + l.Addr().String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// grace limits how long open requests may take when the server stops.
const grace = 10 * time.Second

// Server answers as soon as it listens: until Open with the replies of gateway.Startup.
type Server struct {
	// Failed delivers the error that ended the server or a further port, and is closed when the
	// server has ended.
	Failed <-chan error

	mu      sync.Mutex
	failed  chan error // is Failed; nil when it is closed
	http    *http.Server
	startup *gateway.Startup
	gateway atomic.Pointer[gateway.Gateway]
	further []*further
}

// Serve starts a server on l, which it closes when it stops.
func Serve(l net.Listener) *Server {
	failed, startup := make(chan error, 1), gateway.NewStartup()
	s := &Server{Failed: failed, failed: failed, startup: startup, http: gateway.NewServer(startup)}
	go func() {
		defer s.end()
		if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			s.fail(fmt.Errorf("serve HTTP: %w", err))
		}
	}()
	return s
}

// fail delivers an error, if it is the first.
func (s *Server) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.failed <- err:
	default: // there is one, or nobody waits any more
	}
}

func (s *Server) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.failed)
	s.failed = nil
}

// Open has the gateway answer all requests from now on.
func (s *Server) Open(g *gateway.Gateway) {
	s.gateway.Store(g)
	s.startup.Open(g)
	for _, f := range s.further {
		f.open(g)
	}
}

// Stop waits for requests to finish. Requests that wait for an answer are answered with the
// address to read it later. Stop may be called again.
func (s *Server) Stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	s.startup.Close()
	if g := s.gateway.Load(); g != nil {
		g.Close()
	}
	further := make(chan error, len(s.further))
	for _, f := range s.further {
		go func() { further <- f.stop(ctx) }()
	}
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = errors.Join(fmt.Errorf("finish HTTP requests: %w", err), s.http.Close())
	}
	for range s.further {
		err = errors.Join(err, <-further)
	}
	return err
}
