package server_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"

	"agent-stop-and-go/config"
	"agent-stop-and-go/config/clients"
	"agent-stop-and-go/gateway/server"
)

func TestThePortOfOllama(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := taken.Addr().(*net.TCPAddr).Port
	c := config.Default()
	c.Host = "0.0.0.0" // without authentication the port is on this machine all the same
	main, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := server.Serve(main)
	if err := s.Clients(c, log); err != nil { // off by default
		t.Fatal(err)
	}
	c.Clients.Ollama = &clients.Ollama{Port: port}
	if err := s.Clients(c, log); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("127.0.0.1:%d", port)) {
		t.Errorf("%v", err)
	}
	taken.Close()
	if err := s.Clients(c, log); err != nil {
		t.Fatal(err)
	}
	url := fmt.Sprintf("http://127.0.0.1:%d/api/tags", port)
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if body, _ := io.ReadAll(r.Body); r.StatusCode != 503 || !strings.Contains(string(body), "starting") {
		t.Errorf("%d %s", r.StatusCode, body)
	}
	if err := s.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	if _, err := http.Get(url); err == nil {
		t.Error("the port is open after the end")
	}
}
