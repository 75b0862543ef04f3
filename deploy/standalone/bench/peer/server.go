package peer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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
// variables of the server are its environment: DIR is an empty directory of its own, PORT and
// PORT2 are free, and env has the others.
func (p Peer) Start(ctx context.Context, env map[string]string) (*Server, error) {
	vars, err := variables(env).allocate()
	if err != nil {
		return nil, err
	}
	s := &Server{
		peer: p, vars: vars, ended: make(chan struct{}),
		http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections}},
	}
	if err := s.start(ctx); err != nil {
		return nil, fmt.Errorf("start %s: %w", p.Name, errors.Join(err, s.Stop()))
	}
	return s, nil
}

// allocate returns the variables with a new directory and free ports.
func (v variables) allocate() (variables, error) {
	all := variables{}.with(v)
	for _, name := range []string{"PORT", "PORT2"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() // later, so that the ports differ
		all[name] = strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	}
	var err error
	all["DIR"], err = os.MkdirTemp("", "bench-peer-")
	return all, err
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

// Stop ends the processes of the server, and removes its directory.
func (s *Server) Stop() error {
	s.http.CloseIdleConnections()
	if s.cmd != nil {
		s.signal(syscall.SIGTERM)
		select {
		case <-s.ended:
		case <-time.After(stopTimeout):
		}
		s.signal(syscall.SIGKILL) // also those that remain of its group
		<-s.ended
	}
	return os.RemoveAll(s.vars["DIR"])
}

// signal sends a signal to all processes of the server. They may have ended.
func (s *Server) signal(signal syscall.Signal) { _ = syscall.Kill(-s.cmd.Process.Pid, signal) }
