package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"
)

// stopLimit bounds each step of Stop. The longest takes about two seconds, if clients still
// wait for responses.
const stopLimit = 20 * time.Second

// Server is a running Temporal server, with its Web UI if that is enabled.
type Server struct {
	dir       string
	address   string
	namespace string
	uiAddress string
	undo      []func() error // functions that stop the parts, in the order of their start
	lost      <-chan error
	stop      func() error
}

// Start starts a server and returns when it answers. It fails if a port is taken, the directory
// is in use or not writable, or the database has another version. It waits while another server
// uses the PostgreSQL database. If ctx is cancelled, Start
// cleans up and returns. ctx is not used after Start.
func Start(ctx context.Context, o Options) (*Server, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Server{dir: o.DataDir}
	s.stop = sync.OnceValue(s.unwind)
	if err := s.start(ctx, o); err != nil {
		if stopped := s.Stop(); stopped != nil {
			o.Logger.Warn("clean up after a failed start", "error", stopped)
		}
		return nil, err
	}
	return s, nil
}

// Address of the gRPC frontend, such as 127.0.0.1:7233.
func (s *Server) Address() string { return s.address }

// UIAddress of the Web UI, such as http://127.0.0.1:8233, or empty if it is off.
func (s *Server) UIAddress() string { return s.uiAddress }

// Lost delivers an error when another server has taken the PostgreSQL database over. This one
// is of no use then.
func (s *Server) Lost() <-chan error { return s.lost }

// Stop ends the Web UI, drains the server and unlocks the data directory. Stop the workers and
// clients first: connections that still wait are closed after a second. Further calls return
// the same error.
func (s *Server) Stop() error { return s.stop() }

func (s *Server) start(ctx context.Context, o Options) error {
	if err := s.openDir(o.DataDir); err != nil {
		return err
	}
	ui, err := s.listenUI(o.Host, o.UIPort)
	if err != nil {
		return err
	}
	dynamic, logger := newSettings(o), newServerLog(o.Logger)
	if err := s.startServer(ctx, o, dynamic, logger); err != nil {
		return err
	}
	if err := settle(ctx, s.address, dynamic, o, logger); err != nil {
		return errors.Join(err, s.room()) // a server that cannot write does not report it
	}
	return s.startUI(ui, o)
}

// openDir locks the data directory, if there is one.
func (s *Server) openDir(dir string) error {
	if dir == "" {
		return nil
	}
	unlock, err := lockDir(dir)
	if err != nil {
		return err
	}
	s.undo = append(s.undo, unlock)
	return s.room()
}

// room returns an error if the disk is full.
func (s *Server) room() error {
	if s.dir == "" {
		return nil
	}
	return room(s.dir, roomToStart)
}

// listenUI binds the port of the Web UI before the slow steps. Requests wait until it is
// served.
func (s *Server) listenUI(host string, port int) (net.Listener, error) {
	if port == 0 {
		return nil, nil
	}
	l, err := listen(host, max(port, 0), "stop the other process or set temporal.ui_port in the YAML (0 turns the Web UI off)")
	if err != nil {
		return nil, err
	}
	s.uiAddress = "http://" + reachable(host, l.Addr().(*net.TCPAddr).Port)
	s.undo = append(s.undo, func() error {
		if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			return fmt.Errorf("close web UI: %w", err)
		}
		return nil
	})
	return l, nil
}

func (s *Server) startServer(ctx context.Context, o Options, dynamic *settings, logger serverLog) error {
	ports, release, err := reserve(o.Port, len(services)-1)
	if err != nil {
		return err
	}
	defer release()
	data, err := s.openStorage(ctx, o, logger)
	if err != nil {
		return err
	}
	if err := createNamespace(data.main, o); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("start temporal server: %w", err)
	}
	server, err := startTemporal(serverConfig(data.persistence, o.Host, ports), dynamic, o.Intercept, logger)
	if err != nil {
		return err
	}
	s.address, s.namespace = reachable(o.Host, ports[0]), o.Namespace
	s.undo = append(s.undo, func() error {
		logger.stopping.Store(true)
		return server.Stop()
	})
	return nil
}

func (s *Server) startUI(l net.Listener, o Options) error {
	if l == nil {
		return nil
	}
	stop, err := serveUI(l, s.address, o)
	if err != nil {
		return err
	}
	s.undo = append(s.undo, stop)
	return nil
}

// unwind runs the undo steps in reverse order. It stops at a step that hangs: the rest,
// including the lock, stays until the process ends.
func (s *Server) unwind() error {
	var errs []error
	for _, undo := range slices.Backward(s.undo) {
		done := make(chan error, 1)
		go func() { done <- undo() }()
		select {
		case err := <-done:
			errs = append(errs, err)
		case <-time.After(stopLimit):
			return errors.Join(append(errs, fmt.Errorf("stop temporal server: not done after %s", stopLimit))...)
		}
	}
	return errors.Join(errs...)
}
