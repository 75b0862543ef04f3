// Command gateway serves the REST API of an agent whose conversations run on an existing
// Temporal server. It keeps no state, so any number of them may run.
package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"agent-stop-and-go/config/backing"
	"agent-stop-and-go/config/command"
	"agent-stop-and-go/gateway/front"
)

// version is set by the build.
var version = "dev"

const usage = `gateway serves the REST API of an agent against an existing Temporal server.

Usage: gateway [--config FILE] [--version]

The server is temporal.address of the YAML file (default config/agent.yaml), or
TEMPORAL_ADDRESS with all of Temporal's usual environment settings. Workers and
gateways must share AGENT_CREDENTIAL_KEYS and the blob store (blobs.url), and a
Redis server (events.redis) for replies to be followed while they are made.
`

func main() { command.Command{Name: "gateway", Usage: usage, Version: version, Run: serve}.Main() }

func serve(ctx context.Context, e command.Environment) (err error) {
	l, err := front.Listen(e.Config)
	if err != nil {
		return err
	}
	server := front.Serve(l)
	defer func() { err = errors.Join(err, server.Stop(context.WithoutCancel(ctx))) }()
	b, err := backing.Open(ctx, e.Config, backing.Options{Getenv: e.Getenv, Logger: e.Logger})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	g, err := front.New(ctx, e.Config, front.Parts{
		Client: b.Client, Namespace: b.Namespace, Address: b.Address, Blobs: b.Blobs, Keyring: b.Keyring, Feed: b.Feed, Logger: e.Logger, Version: version,
	})
	if err != nil {
		return err
	}
	server.Open(g)
	fmt.Fprintf(e.Stdout, "gateway of %s is up: %s, Temporal %s, namespace %s, task queue %s\n",
		e.Config.Name, front.URL(l), b.Address, b.Namespace, e.Config.Temporal.TaskQueue)
	looking, cancel := context.WithCancel(ctx)
	var looks sync.WaitGroup
	looks.Go(func() {
		front.AwaitReady(looking, g.Problems, func(problems []string) { report(e, problems) })
	})
	select {
	case err = <-server.Failed:
	case <-ctx.Done():
	}
	cancel()
	looks.Wait()
	return errors.Join(err, server.Stop(context.WithoutCancel(ctx)))
}

// report prints the problems, or that there are none.
func report(e command.Environment, problems []string) {
	w := &strings.Builder{}
	if len(problems) == 0 {
		fmt.Fprintf(w, "gateway of %s is ready\n", e.Config.Name)
	} else {
		fmt.Fprintf(w, "gateway of %s is not ready yet:\n", e.Config.Name)
	}
	for _, p := range problems {
		fmt.Fprintf(w, "  - %s\n", p)
	}
	fmt.Fprint(e.Stdout, w)
}
