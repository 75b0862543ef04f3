// Command worker runs workflows and activities against an existing Temporal
// server. Any number of them may share the work.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/config"
	"agent-stop-and-go/config/backing"
	"agent-stop-and-go/config/logging"
	"agent-stop-and-go/worker"
	"agent-stop-and-go/workflows"
)

// version is set by the build.
var version = "dev"

const usage = `worker runs an agent's conversations against an existing Temporal server.

Usage: worker [--config FILE] [--version]

The server is temporal.address of the YAML file (default config/agent.yaml), or
TEMPORAL_ADDRESS with all of Temporal's usual environment settings. Workers and
gateways must share AGENT_CREDENTIAL_KEYS and the blob store (blobs.url).
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	if err := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("worker", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() { fmt.Fprint(stderr, usage) }
	file := flags.String("config", "config/agent.yaml", "")
	tell := flags.Bool("version", false, "")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	if *tell {
		_, err := fmt.Fprintln(stdout, version)
		return err
	}
	return work(ctx, *file, getenv, stdout, stderr)
}

func work(ctx context.Context, file string, getenv func(string) string, stdout, stderr io.Writer) (err error) {
	logger, err := logging.New(stderr, getenv)
	if err != nil {
		return err
	}
	c, err := config.Load(file)
	if err != nil {
		return err
	}
	if err := c.Runnable(); err != nil {
		return err
	}
	b, err := backing.Open(ctx, c, backing.Options{
		Getenv: getenv, Logger: logger, Propagators: []workflow.ContextPropagator{workflows.CredentialPropagator()},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	background, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	activities, release, err := worker.Assemble(background, c, worker.Parts{
		Blobs: b.Blobs, Keyring: b.Keyring, Getenv: getenv, Logger: logger,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	w := worker.New(b.Client, c.Temporal.TaskQueue, activities)
	if err := w.Start(); err != nil {
		return fmt.Errorf("start the worker: %w", err)
	}
	defer w.Stop()
	fmt.Fprintf(stdout, "worker of %s is ready: Temporal %s, namespace %s, task queue %s\n",
		c.Name, b.Address, b.Namespace, c.Temporal.TaskQueue)
	<-ctx.Done()
	logger.Info("stopping: running calls are finished first")
	return nil
}
