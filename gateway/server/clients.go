package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"

	"agent-stop-and-go/config"
	"agent-stop-and-go/gateway"
)

// further is the server of a port for clients of another protocol. A nil *further is none.
type further struct {
	http    *http.Server
	handler atomic.Pointer[http.Handler]
}

// Clients listens on the ports for clients of other protocols, if the configuration has any. Without
// authentication they are on loopback. They are closed by Stop. Call it before Open.
func (s *Server) Clients(c *config.Config, log *slog.Logger) error {
	if c.Clients.Ollama == nil {
		return nil
	}
	host := c.Host
	if len(c.Auth) == 0 {
		host = "127.0.0.1"
	}
	address := net.JoinHostPort(host, strconv.Itoa(c.Clients.Ollama.Port))
	l, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("listen on %s: %w: stop the other process (it may be Ollama) or change clients.ollama.port in the YAML", address, err)
	}
	log.Info("clients of Ollama are served", "url", URL(l))
	s.serveFurther(l)
	return nil
}

// serveFurther serves a port. An error reaches Failed.
func (s *Server) serveFurther(l net.Listener) {
	f := &further{}
	f.http = gateway.NewServer(f)
	s.further = f
	go func() {
		if err := f.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			s.fail(fmt.Errorf("serve clients of Ollama: %w", err))
		}
	}()
}

// ServeHTTP implements http.Handler. Until the gateway is there, clients have to try again.
func (f *further) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h := f.handler.Load(); h != nil {
		(*h).ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Retry-After", "1")
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = w.Write([]byte(`{"error":"the agent is starting"}` + "\n"))
}

func (f *further) open(g *gateway.Gateway) {
	if f != nil {
		h := g.Ollama()
		f.handler.Store(&h)
	}
}

func (f *further) stop(ctx context.Context) error {
	if f == nil {
		return nil
	}
	if err := f.http.Shutdown(ctx); err != nil {
		return errors.Join(fmt.Errorf("finish requests of other clients: %w", err), f.http.Close())
	}
	return nil
}
