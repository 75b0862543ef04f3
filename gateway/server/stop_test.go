package server

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/config/clients"
)

// serving returns a server with a port for clients of Ollama, and the address of each.
func serving(t *testing.T) (s *Server, main, other string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	further, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s = Serve(l)
	s.serveFurther(clients.Port{Key: "ollama", Name: "Ollama"}, further)
	return s, l.Addr().String(), further.Addr().String()
}

func TestARequestOfAnotherPortDoesNotKeepTheServerOpen(t *testing.T) {
	s, main, other := serving(t)
	hangs, free := make(chan struct{}), make(chan struct{})
	defer close(free)
	var hang http.Handler = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { close(hangs); <-free })
	s.further[0].handler.Store(&hang)
	go func() {
		if r, err := http.Get("http://" + other); err == nil {
			r.Body.Close()
		}
	}()
	<-hangs
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := s.Stop(ctx); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "requests of clients of Ollama") {
		t.Error(err)
	}
	if c, err := net.Dial("tcp", main); err == nil {
		c.Close()
		t.Fatal("the server still listens")
	}
	if err, failed := <-s.Failed; failed {
		t.Error(err)
	}
}

// broken is a listener that fails.
type broken struct{ net.Listener }

func (broken) Accept() (net.Conn, error) { return nil, errors.New("broken") }

func TestAFurtherPortThatFailsFailsTheServer(t *testing.T) {
	var ports [2]net.Listener
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ports[i] = l
	}
	s := Serve(ports[0])
	s.serveFurther(clients.Port{Key: "ollama", Name: "Ollama"}, broken{ports[1]})
	if err := <-s.Failed; err == nil || err.Error() != "serve clients of Ollama: broken" {
		t.Error(err)
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if err, failed := <-s.Failed; failed {
		t.Error(err)
	}
}
