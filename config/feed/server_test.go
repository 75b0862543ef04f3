package feed_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"os/exec"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"agent-stop-and-go/config/feed"
)

const password = "c4n4ry"

// server is a Redis server that can be killed and started again on its port.
type server struct {
	t    *testing.T
	port int
	cmd  *exec.Cmd
	*redis.Client
}

func newServer(t *testing.T) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, port: l.Addr().(*net.TCPAddr).Port}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	s.Client = redis.NewClient(&redis.Options{Addr: fmt.Sprint("127.0.0.1:", s.port), Password: password})
	t.Cleanup(func() { s.kill(); s.Client.Close() })
	s.start()
	return s
}

func (s *server) url() string { return fmt.Sprintf("redis://:%s@127.0.0.1:%d", password, s.port) }

func (s *server) start() {
	s.t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		s.t.Fatal("these tests need redis-server: apt-get install -y redis-server, or make test")
	}
	s.cmd = exec.Command(path, "--port", fmt.Sprint(s.port), "--bind", "127.0.0.1", "--save", "", "--dir", s.t.TempDir(), "--requirepass", password)
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	eventually(s.t, "Redis answers", func() bool { return s.Ping(s.t.Context()).Err() == nil })
}

// kill is kill -9.
func (s *server) kill() {
	if s.cmd != nil {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		s.cmd = nil
	}
}

// logs may be written while they are read.
type logs struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// open connects one process.
func (s *server) open() (*feed.Feed, *logs) {
	s.t.Helper()
	l := &logs{}
	f, err := feed.Open(feed.Options{Redis: s.url(), Logger: slog.New(slog.NewTextHandler(l, nil))})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = f.Close() })
	return f, l
}

func ready(t *testing.T, feeds ...*feed.Feed) {
	t.Helper()
	for _, f := range feeds {
		eventually(t, "the feed is ready", func() bool { return f.State().Ready })
	}
}
