package peer

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

const (
	startTimeout  = 5 * time.Minute // it may compile
	stopTimeout   = 10 * time.Second
	readyInterval = 20 * time.Millisecond
	connections   = 500 // that are kept open
)

// Server is a running peer.
type Server struct {
	peer   Peer
	vars   variables
	http   *http.Client
	cmd    *exec.Cmd
	output bytes.Buffer // complete once the process has ended
	ended  chan struct{}
}

// Start starts the server in its own process group, and waits until it is ready. The
// variables of the server are its environment: DIR is the given directory, PORT and PORT2 are
// free, and env has the others.
func (p Peer) Start(ctx context.Context, dir string, env map[string]string) (*Server, error) {
	vars, err := variables(env).allocate(dir)
	if err != nil {
		return nil, err
	}
	s := &Server{
		peer: p, vars: vars, ended: make(chan struct{}),
		http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections}},
	}
	if err := s.start(ctx); err != nil {
		s.Stop()
		return nil, fmt.Errorf("start %s: %w", p.Name, err)
	}
	return s, nil
}

// allocate returns the variables with a directory and free ports.
func (v variables) allocate(dir string) (variables, error) {
	ports, err := FreePorts(2)
	if err != nil {
		return nil, err
	}
	return variables{}.with(v).with(variables{"DIR": dir, "PORT": strconv.Itoa(ports[0]), "PORT2": strconv.Itoa(ports[1])}), nil
}

// FreePorts returns ports on which nobody listens, below those that the system gives to connections:
// one of many connections could have taken such a port before it is used.
func FreePorts(n int) (ports []int, err error) {
	const first, count, tries = 15_000, 15_000, 1000
	for range tries {
		l, e := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(first+rand.N(count))))
		if e != nil {
			err = e
			continue
		}
		defer l.Close() // later, so that the ports differ
		if ports = append(ports, l.Addr().(*net.TCPAddr).Port); len(ports) == n {
			return ports, nil
		}
	}
	return nil, fmt.Errorf("find free ports: %w", err)
}

func (s *Server) start(ctx context.Context) error {
	if err := s.writeFiles(); err != nil {
		return err
	}
	command := make([]string, len(s.peer.Command))
	for i, word := range s.peer.Command {
		var err error
		if command[i], err = s.vars.expand(word); err != nil {
			return err
		}
	}
	env := variables{}
	for name, value := range s.peer.Env {
		var err error
		if env[name], err = s.vars.expand(value); err != nil {
			return err
		}
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = s.peer.Dir
	cmd.Env = append(os.Environ(), s.vars.with(env).environment()...)
	cmd.Stdout, cmd.Stderr = &s.output, &s.output
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = stopTimeout
	if err := cmd.Start(); err != nil {
		return err
	}
	s.cmd = cmd
	go func() {
		_ = cmd.Wait() // the output says why it has ended
		close(s.ended)
	}()
	return s.awaitReady(ctx)
}

func (s *Server) writeFiles() error {
	for name, text := range s.peer.Files {
		text, err := s.vars.expand(text)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(s.vars["DIR"], name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func (s *Server) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		_, err := s.send(ctx, Request{URL: s.peer.Ready}, s.vars)
		if err == nil {
			return nil
		}
		select {
		case <-s.ended:
			return fmt.Errorf("it has ended: %s", s.output.Bytes())
		case <-ctx.Done():
			return fmt.Errorf("it is not ready: %w", err)
		case <-time.After(readyInterval):
		}
	}
}

// Stop ends the processes of the server.
func (s *Server) Stop() {
	s.http.CloseIdleConnections()
	if s.cmd == nil {
		return
	}
	s.signal(syscall.SIGTERM)
	select {
	case <-s.ended:
	case <-time.After(stopTimeout):
	}
	s.signal(syscall.SIGKILL) // also those that remain of its group
	<-s.ended
}

// signal sends a signal to all processes of the server. They may have ended.
func (s *Server) signal(signal syscall.Signal) { _ = syscall.Kill(-s.cmd.Process.Pid, signal) }
