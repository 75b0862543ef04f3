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
	"agent-stop-and-go/config/clients"
	"agent-stop-and-go/gateway"
)

// further is the server of a port for clients of another protocol.
type further struct {
	clients.Port
	http    *http.Server
	handler atomic.Pointer[http.Handler]
}

// handlers are what the ports serve, by their keys.
var handlers = map[string]func(*gateway.Gateway) http.Handler{
	"ollama": (*gateway.Gateway).Ollama, "api": (*gateway.Gateway).AgentAPI, "shell": (*gateway.Gateway).Shell,
}

// Clients listens on the ports for clients of other protocols, if the configuration has any. Without
// authentication they are on loopback. They are closed by Stop. Call it before Open.
func (s *Server) Clients(c *config.Config, log *slog.Logger) error {
	host := c.Host
	if len(c.Auth) == 0 {
		host = "127.0.0.1"
	}
	for _, p := range c.Clients.Ports() {
		address := net.JoinHostPort(host, strconv.Itoa(p.Port))
		l, err := net.Listen("tcp", address)
		if err != nil {
			return fmt.Errorf("listen on %s: %w: stop the other process (it may be %s) or change clients.%s.port in the YAML", address, err, p.Name, p.Key)
		}
		log.Info("clients of "+p.Name+" are served", "url", URL(l))
		s.serveFurther(p, l)
	}
	return nil
}

// serveFurther serves a port. An error reaches Failed.
func (s *Server) serveFurther(p clients.Port, l net.Listener) {
	f := &further{Port: p}
	f.http = gateway.NewServer(f)
	s.further = append(s.further, f)
	go func() {
		if err := f.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			s.fail(fmt.Errorf("serve clients of %s: %w", p.Name, err))
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
	h := handlers[f.Key](g)
	f.handler.Store(&h)
}

func (f *further) stop(ctx context.Context) error {
	if err := f.http.Shutdown(ctx); err != nil {
		return errors.Join(fmt.Errorf("finish requests of clients of %s: %w", f.Name, err), f.http.Close())
	}
	return nil
}
