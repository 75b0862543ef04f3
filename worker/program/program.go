// Package program is the program worker, which runs workflows and activities against an existing
// Temporal server. Any number of workers may share the work. Command worker in worker/cmd has what
// needs no cloud; that in deploy/stores, which ships, takes object stores too.
package program

import (
	"context"
	"errors"
	"fmt"

	"go.temporal.io/sdk/workflow"
	"google.golang.org/grpc"

	"agent-stop-and-go/config/command"
	"agent-stop-and-go/config/platform"
	"agent-stop-and-go/gateway/server/hooks"
	"agent-stop-and-go/worker"
	"agent-stop-and-go/workflows/credential/header"
)

const usage = `worker runs an agent's conversations against an existing Temporal server.

Usage: worker [--config FILE] [--version]

The server is temporal.address of the YAML file (default config/agent.yaml), or
TEMPORAL_ADDRESS with all of Temporal's usual environment settings. Workers and
gateways must share AGENT_CREDENTIAL_KEYS and the blob store (blobs.url), and a
Redis server (events.redis) for replies to be followed while they are made.
`

// Main runs the program as the process and does not return.
func Main(version string) {
	command.Command{Name: "worker", Usage: usage, Version: version, Run: func(ctx context.Context, e command.Environment) error { return work(ctx, e, version) }}.Main()
}

func work(ctx context.Context, e command.Environment, version string) (err error) {
	tasksHeld := worker.OpenTasks(e.Config.DataDir, false, e.Logger)
	defer func() { err = errors.Join(err, tasksHeld.Close()) }()
	b, err := platform.Open(ctx, e.Config, platform.Options{
		Getenv: e.Getenv, Logger: e.Logger, Propagators: []workflow.ContextPropagator{header.Propagator()},
		Intercept: []grpc.UnaryClientInterceptor{tasksHeld.Interceptor()}, Metrics: e.Telemetry.Handler(),
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	worker.KeepInMemory(e.Config.Temporal.CacheSize)
	background, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	tasks, err := hooks.Reader(ctx, e.Config, b.Client, b.Namespace, b.Blobs)
	if err != nil {
		return err
	}
	log, err := worker.OpenAudit(e.Config, b.Blobs, b.Client, e.Getenv, e.Logger)
	if err != nil {
		return err
	}
	activities, release, err := worker.Assemble(background, e.Config, worker.Parts{
		Blobs: b.Blobs, Claims: b.Blobs, Graves: b.Blobs, Records: b.Blobs, Values: b.Blobs, Keyring: b.Keyring, Getenv: e.Getenv, Logger: e.Logger, Feed: b.Feed.Publisher(),
		Audit: log,
		Push:  worker.Push{Tasks: tasks, Reach: e.Config.Push.Reach()},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	worker.GiveBack(ctx, tasksHeld, b.Client, b.Namespace, e.Logger)
	failed := make(chan error, 1)
	deployment, build := e.Config.Temporal.Deployment.Version(version, e.Getenv)
	w := worker.New(b.Client, worker.Place{
		Deployment: deployment, BuildID: build,
		TaskQueue: e.Config.Temporal.TaskQueue, Address: b.Address, Keyring: b.Keyring, Calls: worker.NewCalls(e.Config.Temporal.TaskQueue, tasksHeld, nil),
	}, activities, func(err error) { failed <- err })
	stopAudit := log.Start()
	defer func() { _ = stopAudit(ctx) }() // after the worker, whose last calls it records
	if err := w.Start(); err != nil {
		return fmt.Errorf("start the worker: %w", err)
	}
	defer w.Stop()
	stopUpkeep := worker.KeepUp(b.Client, e.Config, e.Logger)
	defer func() { _ = stopUpkeep(ctx) }()
	stopJudging := worker.Judge(b.Client, e.Config, e.Logger)
	defer func() { _ = stopJudging(ctx) }()
	fmt.Fprintf(e.Stdout, "worker of %s is up: Temporal %s, namespace %s, task queue %s\n",
		e.Config.Name, b.Address, b.Namespace, e.Config.Temporal.TaskQueue)
	select {
	case err := <-failed:
		return fmt.Errorf("the worker cannot go on: %w", err)
	case <-ctx.Done():
		e.Logger.Info("stopping: running calls are finished first")
		return nil
	}
}
