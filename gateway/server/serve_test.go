package server_test

import (
	"net"
	"net/http"
	"testing"

	"agent-stop-and-go/gateway/server"
)

// Temporal may be unreachable for hours: probes of the process are answered all the time.
func TestAServerAnswersBeforeItsGatewayExists(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := server.Serve(l)
	for path, want := range map[string]int{"/health": 200, "/health/ready": 503} {
		r, err := http.Get(server.URL(l) + path)
		if err != nil {
			t.Fatal(err)
		}
		if r.Body.Close(); r.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, r.StatusCode, want)
		}
	}
	for range 2 {
		if err := s.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if err, failed := <-s.Failed; failed {
		t.Error(err)
	}
	if c, err := net.Dial("tcp", l.Addr().String()); err == nil {
		c.Close()
		t.Error("it still listens")
	}
}
