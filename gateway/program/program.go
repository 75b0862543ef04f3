// Package program is the program gateway, which serves the REST API of an agent whose
// conversations run on an existing Temporal server. It keeps no state, so any number of them may
// run. Command gateway in gateway/cmd has what needs no cloud; that in deploy/stores, which ships,
// takes object stores too.
package program

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"agent-stop-and-go/config/command"
	"agent-stop-and-go/config/platform"
	"agent-stop-and-go/gateway/server"
	"agent-stop-and-go/worker/accounts"
)

const usage = `gateway serves the REST API of an agent against an existing Temporal server.

Usage: gateway [--config FILE] [--version]

The server is temporal.address of the YAML file (default config/agent.yaml), or
TEMPORAL_ADDRESS with all of Temporal's usual environment settings. Workers and
gateways must share AGENT_CREDENTIAL_KEYS and the blob store (blobs.url), and a
Redis server (events.redis) for replies to be followed while they are made.
`

// Main runs the program as the process and does not return.
func Main(version string) {
	command.Command{Name: "gateway", Usage: usage, Version: version, Run: func(ctx context.Context, e command.Environment) error {
		return serve(ctx, e, version)
	}}.Main()
}

func serve(ctx context.Context, e command.Environment, version string) (err error) {
	l, err := server.Listen(e.Config)
	if err != nil {
		return err
	}
	s := server.Serve(l)
	defer func() { err = errors.Join(err, s.Stop(context.WithoutCancel(ctx))) }()
	if err := s.Clients(e.Config, e.Logger); err != nil {
		return err
	}
	b, err := platform.Open(ctx, e.Config, platform.Options{Getenv: e.Getenv, Logger: e.Logger, Metrics: e.Telemetry.Handler()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	g, err := server.New(ctx, e.Config, server.Parts{
		Client: b.Client, Namespace: b.Namespace, Address: b.Address, Blobs: b.Blobs, Keyring: b.Keyring, Codec: b.Codec, Feed: b.Feed, Logger: e.Logger, Version: version,
		Getenv: e.Getenv,
		Graves: b.Blobs, Signed: b.Blobs.Folder(server.WitnessFolder),
		Logins: accounts.New(e.Config, accounts.Parts{Records: b.Blobs, Keyring: b.Keyring, Getenv: e.Getenv}),
	})
	if err != nil {
		return err
	}
	s.Open(g)
	fmt.Fprintf(e.Stdout, "gateway of %s is up: %s, Temporal %s, namespace %s, task queue %s\n",
		e.Config.Name, server.URL(l), b.Address, b.Namespace, e.Config.Temporal.TaskQueue)
	looking, cancel := context.WithCancel(ctx)
	var looks sync.WaitGroup
	looks.Go(func() {
		server.AwaitReady(looking, g.Problems, func(problems []string) { report(e, problems) })
	})
	select {
	case err = <-s.Failed:
	case <-ctx.Done():
	}
	cancel()
	looks.Wait()
	return errors.Join(err, s.Stop(context.WithoutCancel(ctx)))
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
