package e2e_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/config"
	"agent-stop-and-go/config/connect"
	"agent-stop-and-go/config/platform"
	"agent-stop-and-go/deploy/standalone/embedded"
	"agent-stop-and-go/gateway/server"
	"agent-stop-and-go/workflows/credential/header"
)

const sealingKey = "k1:MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

// external makes the home's processes use a separate server.
func (h *home) external(o embedded.Options) *embedded.Server {
	h.t.Helper()
	o.DataDir, o.Port = h.t.TempDir(), h.ports.grpc
	o.SearchAttributes, o.Logger = connect.SearchAttributes(), slog.New(slog.DiscardHandler)
	server, err := embedded.Start(context.Background(), o)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			h.t.Error(err)
		}
	})
	h.extra += fmt.Sprintf("blobs: {url: %q}\n", "file://"+h.t.TempDir())
	h.serveAt(server.Address())
	return server
}

// pieces runs a server and a gateway inside the test. The caller starts the worker.
func (h *home) pieces() *api {
	h.t.Helper()
	h.external(embedded.Options{})
	c, err := config.Load(h.configFile())
	if err != nil {
		h.t.Fatal(err)
	}
	logger := slog.New(slog.DiscardHandler)
	b, err := platform.Open(context.Background(), c, platform.Options{
		Getenv: h.getenv, Logger: logger, Propagators: []workflow.ContextPropagator{header.Propagator()},
	})
	if err != nil {
		h.t.Fatal(err)
	}
	g, err := server.New(context.Background(), c, server.Parts{
		Client: b.Client, Namespace: b.Namespace, Blobs: b.Blobs, Keyring: b.Keyring, Feed: b.Feed, Logger: logger,
	})
	if err != nil {
		h.t.Fatal(err)
	}
	l, err := server.Listen(c)
	if err != nil {
		h.t.Fatal(err)
	}
	s := server.Serve(l)
	s.Open(g)
	h.t.Cleanup(func() {
		if err := s.Stop(context.Background()); err != nil {
			h.t.Error(err)
		}
		if err := b.Close(); err != nil {
			h.t.Error(err)
		}
	})
	return newAPI(h.t, server.URL(l))
}

// mortal is an agent with a part that can be killed.
type mortal struct {
	*home
	*api
	rise func() *proc
	proc *proc
}

// die kills that part and restarts it.
func (m *mortal) die() {
	m.home.t.Helper()
	m.proc.kill()
	m.proc = m.rise()
}

// eachDeath runs a test twice: with a worker that dies while its server and gateway survive,
// and with a whole agent that dies.
func eachDeath(t *testing.T, tree string, f func(*testing.T, *mortal)) {
	t.Run("the worker", func(t *testing.T) {
		h := newHome(t)
		h.extra = tree
		m := &mortal{home: h, api: h.pieces()}
		m.rise = func() *proc { return start(t, h.dir, "worker", h.environ(), "--config", h.configFile()) }
		m.proc = m.rise()
		f(t, m)
	})
	t.Run("the whole agent", func(t *testing.T) {
		h := newHome(t)
		h.extra = tree
		m := &mortal{home: h}
		m.rise = func() *proc {
			var p *proc
			m.api, p = h.outside()
			return p
		}
		m.proc = m.rise()
		f(t, m)
	})
}
