package feedtest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

// Variable names the environment variable with the path of a redis-server.
const Variable = "FEED_REDIS"

// patience limits every wait. It passes only if something is broken.
const patience = 2 * time.Minute

// Server is a Redis server that can be killed and started again at its address. The embedded
// client is for the test.
type Server struct {
	*redis.Client
	t        testing.TB
	addr     string
	password string
	running  engine
}

// engine is a running server of either kind.
type engine interface{ kill() }

// NewServer starts a server, which is killed at the end of the test. The password may be
// empty.
func NewServer(t testing.TB, password string) *Server {
	t.Helper()
	if path := os.Getenv(Variable); path != "" {
		if _, err := exec.LookPath(path); err != nil {
			t.Fatalf("%s: %v", Variable, err)
		}
	}
	s := &Server{t: t, addr: freeAddress(t), password: password}
	s.Client = redis.NewClient(&redis.Options{Addr: s.addr, Password: password})
	t.Cleanup(func() {
		s.Kill()
		_ = s.Client.Close()
	})
	s.Start()
	return s
}

// URL returns the address with the password.
func (s *Server) URL() string {
	if s.password == "" {
		return "redis://" + s.addr
	}
	return fmt.Sprintf("redis://:%s@%s", s.password, s.addr)
}

// Start starts the server, empty, and waits until it answers.
func (s *Server) Start() {
	s.t.Helper()
	var err error
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if s.running == nil {
			s.running, err = s.launch()
		}
		if s.running != nil {
			if err = s.Ping(s.t.Context()).Err(); err == nil {
				return
			}
		}
	}
	s.t.Fatalf("the Redis server at %s does not answer: %v", s.addr, err)
}

// Kill ends the server like a crash.
func (s *Server) Kill() {
	if s.running != nil {
		s.running.kill()
		s.running = nil
	}
}

func (s *Server) launch() (engine, error) {
	if path := os.Getenv(Variable); path != "" {
		return startProgram(path, s.addr, s.password, s.t.TempDir())
	}
	m := miniredis.NewMiniRedis()
	m.RequireAuth(s.password)
	if err := m.StartAddr(s.addr); err != nil {
		return nil, err
	}
	return inside{m}, nil
}

// inside is a server in the test's process.
type inside struct{ *miniredis.Miniredis }

func (i inside) kill() { i.Close() }

// freeAddress returns an unused loopback address. On Linux, where all of 127/8 is loopback,
// it uses a random host address, so that no other process gets the port while the server is
// down.
func freeAddress(t testing.TB) string {
	t.Helper()
	host := "127.0.0.1"
	if runtime.GOOS == "linux" {
		host = fmt.Sprintf("127.%d.%d.%d", 1+rand.N(254), rand.N(256), 1+rand.N(254))
	}
	l, err := net.Listen("tcp", host+":0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
