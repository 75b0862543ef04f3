package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/grpc"

	"agent-stop-and-go/config"
	"agent-stop-and-go/config/connect"
	"agent-stop-and-go/config/platform"
	"agent-stop-and-go/deploy/standalone/embedded"
	"agent-stop-and-go/gateway"
	"agent-stop-and-go/gateway/server"
	"agent-stop-and-go/gateway/server/hooks"
	"agent-stop-and-go/gateway/service/backend/asked"
	"agent-stop-and-go/gateway/service/backend/snapshot"
	"agent-stop-and-go/worker"
	"agent-stop-and-go/worker/accounts"
	"agent-stop-and-go/worker/calls"
	"agent-stop-and-go/worker/tasklog"
	"agent-stop-and-go/workflows/board"
	"agent-stop-and-go/workflows/credential/header"
)

// Options are the settings of a process besides its configuration.
type Options struct {
	Getenv  func(string) string
	Logger  *slog.Logger
	Version string
	// Metrics records what the Temporal SDK measures; it may be nil.
	Metrics client.MetricsHandler
	// Now is the clock by which tokens of callers end and keys of their provider age; nil: the
	// system's.
	Now func() time.Time
}

// Pollers is worker.Place.Pollers of an agent with its own server. With two, a busy agent has its
// workflow tasks wait in the database for a poller: an approval of 50 clients takes a tenth more
// processor time than with twenty. But the more tasks run at a time, the later a token reaches its
// reader: with 100 replies at once 3 ms late with two, 8 with eight, 9 to 16 with twelve.
const Pollers = 8

// Process is a running agent.
type Process struct {
	*platform.Platform
	// API and UI are the base URLs of the gateway and the Web UI; UI is empty
	// when it is off.
	API, UI string
	// Failed delivers the error of a part that stopped by itself.
	Failed <-chan error

	gateway *gateway.Gateway
	undo    []func(context.Context) error
}

// Start starts an agent. After an error nothing is left running.
func Start(ctx context.Context, c *config.Config, o Options) (*Process, error) {
	worker.KeepInMemory(c.Temporal.CacheSize)
	s := &starter{Process: &Process{}, config: c, options: o, failed: make(chan error, parts)}
	s.Failed = s.failed
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.Stop(context.WithoutCancel(ctx)))
	}
	return s.Process, nil
}

// AwaitReady calls tell with the problems that GET /health/ready reports: once, and when they
// change. It returns when there are no problems, or when ctx ends.
func (p *Process) AwaitReady(ctx context.Context, tell func(problems []string)) {
	server.AwaitReady(ctx, p.gateway.Problems, tell)
}

// Stop stops the agent. Running activities may finish within their stop timeout; ctx bounds
// only open HTTP requests.
func (p *Process) Stop(ctx context.Context) error {
	var errs []error
	for i := len(p.undo) - 1; i >= 0; i-- {
		errs = append(errs, p.undo[i](ctx))
	}
	p.undo = nil
	return errors.Join(errs...)
}

type starter struct {
	*Process
	config  *config.Config
	options Options
	http    *server.Server
	server  *embedded.Server // nil if another server is configured
	tasks   *tasklog.Log
	holds   *calls.WorkflowTasks // nil if another server is configured
	calls   *calls.Table
	board   *board.Board      // likewise
	changes *snapshot.Changes // nil if other processes may work on the same conversations
	asked   *asked.Approvals  // likewise
	failed  chan error
}

// parts is the number of parts that may fail by themselves: the worker and the gateway.
const parts = 2

func (s *starter) start(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		s.listen, s.stand, s.work, s.serve,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *starter) onStop(f func(context.Context) error) { s.undo = append(s.undo, f) }

func (s *starter) listen(context.Context) error {
	l, err := server.Listen(s.config)
	if err != nil {
		return err
	}
	s.http, s.API = server.Serve(l), server.URL(l)
	s.onStop(s.http.Stop) // for a server that was not started
	return s.http.Clients(s.config, s.options.Logger)
}

// stand opens the dependencies of the parts, including the embedded server unless another
// server is configured.
func (s *starter) stand(ctx context.Context) error {
	o := platform.Options{
		OneProcess: true, Getenv: s.options.Getenv, Logger: s.options.Logger,
		Propagators: []workflow.ContextPropagator{header.Propagator()}, Metrics: s.options.Metrics,
	}
	if !platform.External(s.config, s.options.Getenv) {
		server, err := s.embed(ctx)
		if err != nil {
			return err
		}
		s.server, o.Embedded, s.UI = server, server.Address(), server.UIAddress()
	}
	s.tasks = worker.OpenTasks(s.config.DataDir, s.server != nil, s.options.Logger)
	s.onStop(func(context.Context) error { return s.tasks.Close() })
	s.calls = worker.NewCalls(s.config.Temporal.TaskQueue, s.tasks, s.holds)
	o.Intercept = []grpc.UnaryClientInterceptor{s.tasks.Interceptor()}
	if s.server != nil {
		s.changes = &snapshot.Changes{}
		s.board = board.New(s.changes.Count)
		s.asked = asked.New()
		o.Intercept = append(o.Intercept, s.board.Interceptor(), s.changes.Interceptor(), s.asked.Interceptor(), embedded.TellBuild())
	}
	b, err := platform.Open(ctx, s.config, o)
	if err != nil {
		return err
	}
	s.Platform = b
	s.onStop(func(context.Context) error { return b.Close() })
	return nil
}

func (s *starter) embed(ctx context.Context) (*embedded.Server, error) {
	t := s.config.Temporal
	s.holds = calls.NewWorkflowTasks()
	server, err := embedded.Start(ctx, embedded.Options{
		DataDir: s.config.DataDir, Namespace: t.Namespace, Port: t.Port, UIPort: t.UIPort, AllowedHosts: s.config.Names(), Retention: t.Retention,
		SearchAttributes: connect.SearchAttributes(), Intercept: s.holds.Interceptor(), Logger: s.options.Logger, Codec: s.codecEndpoint(),
	})
	if err != nil {
		return nil, err
	}
	s.onStop(func(context.Context) error { return server.Stop() })
	return server, nil
}

// codecEndpoint is where the Web UI gets clear text of what is encrypted, or "".
func (s *starter) codecEndpoint() string {
	if len(s.config.Encryption.Keys) == 0 {
		return ""
	}
	return strings.TrimRight(cmp.Or(s.config.PublicURL, s.API), "/") + "/codec"
}

func (s *starter) work(ctx context.Context) error {
	background, cancel := context.WithCancel(context.WithoutCancel(ctx))
	tasks, err := hooks.Reader(ctx, s.config, s.Client, s.Namespace, s.Blobs)
	if err != nil {
		cancel()
		return err
	}
	log, err := worker.OpenAudit(s.config, s.Blobs, s.Client, s.options.Getenv, s.options.Logger)
	if err != nil {
		cancel()
		return err
	}
	parts := worker.Parts{
		Blobs: s.Blobs, Claims: s.Blobs, Graves: s.Blobs, Records: s.Blobs, Values: s.Blobs, Keyring: s.Keyring, Getenv: s.options.Getenv, Logger: s.options.Logger, Feed: s.Feed.Publisher(),
		Audit: log,
		Push:  worker.Push{Tasks: tasks, Reach: s.config.Push.Reach()},
	}
	restored, err := s.pauseRestored(ctx, &parts)
	if err != nil {
		cancel()
		return err
	}
	activities, release, err := worker.Assemble(background, s.config, parts)
	if err != nil {
		cancel()
		return err
	}
	s.onStop(func(context.Context) error { cancel(); return release() })
	s.resume(ctx)
	deployment, build := s.config.Temporal.Deployment.Version(s.options.Version, s.options.Getenv)
	place := worker.Place{
		TaskQueue: s.config.Temporal.TaskQueue, Address: s.Address, Keyring: s.Keyring, Calls: s.calls, Board: s.board, Deployment: deployment, BuildID: build,
	}
	if s.server != nil {
		place.Pollers = Pollers
	}
	w := worker.New(s.Client, place, activities, func(err error) {
		s.failed <- fmt.Errorf("the worker cannot go on: %w", err)
	})
	s.onStop(log.Start()) // ends after the worker, whose last calls it records
	if err := w.Start(); err != nil {
		return fmt.Errorf("start the worker: %w", err)
	}
	s.onStop(func(context.Context) error { w.Stop(); return nil })
	if restored != nil {
		if err := restored.settle(ctx, s.config.DataDir); err != nil {
			return err
		}
	}
	s.onStop(worker.KeepUp(s.Client, s.config, s.options.Logger))
	s.onStop(worker.Judge(s.Client, s.config, s.options.Logger))
	return nil
}

// pauseRestored pauses all calls of an agent that starts for the first time after a restore. It
// returns nil for any other.
func (s *starter) pauseRestored(ctx context.Context, parts *worker.Parts) (*restored, error) {
	if s.server == nil {
		return nil, nil
	}
	r, err := openRestored(s.config.DataDir, s.Client)
	if err != nil || r == nil {
		return nil, err
	}
	parts.Switches = r.Read
	s.options.Logger.Warn("the data were restored from a backup: all destructive calls are paused until agent resume all")
	return r, r.order(ctx)
}

// resume gives back the tasks that the previous process held when it was killed.
func (s *starter) resume(ctx context.Context) {
	if s.server != nil {
		started, err := s.server.Started(ctx, s.config.Temporal.TaskQueue, s.calls.Queue())
		if err != nil {
			s.options.Logger.Warn("what the process before was given last is not known: it waits for its timeouts", "error", err)
		}
		for _, t := range started {
			s.tasks.Add(tasklog.Task{Activity: t.Activity, Token: t.Token, Identity: t.Identity})
		}
	}
	worker.GiveBack(ctx, s.tasks, s.Client, s.Namespace, s.options.Logger)
}

func (s *starter) parts() server.Parts {
	parts := server.Parts{
		Client: s.Client, Namespace: s.Namespace, Address: s.Address, Blobs: s.Blobs, Graves: s.Blobs, Signed: s.Blobs.Folder(server.WitnessFolder), Keyring: s.Keyring, Feed: s.Feed,
		Logger: s.options.Logger, Version: s.options.Version, WebUI: s.UI, Changes: s.changes, Board: s.board, Asked: s.asked,
		Getenv: s.options.Getenv, Codec: s.Codec, Now: s.options.Now,
		Logins: accounts.New(s.config, accounts.Parts{Records: s.Blobs, Keyring: s.Keyring, Getenv: s.options.Getenv}),
	}
	if s.server != nil {
		parts.Room = s.server.Room
	}
	return parts
}

func (s *starter) serve(ctx context.Context) error {
	g, err := server.New(ctx, s.config, s.parts())
	if err != nil {
		return err
	}
	s.gateway = g
	s.http.Open(g)
	go func() {
		if err, ok := <-s.http.Failed; ok {
			s.failed <- err
		}
	}()
	s.onStop(s.http.Stop)
	return nil
}
