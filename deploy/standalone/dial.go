package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/config"
	"agent-stop-and-go/config/connect"
	"agent-stop-and-go/config/platform"
	"agent-stop-and-go/workflows/credential/header"
	"agent-stop-and-go/workflows/telemetry"
)

// dialTimeout limits the attempts to reach a server.
const dialTimeout = 10 * time.Second

// dial connects to the Temporal server of an agent: the one that the file or the environment
// names, or that of the agent which runs with the file on this machine.
func dial(ctx context.Context, c *config.Config, getenv func(string) string) (client.Client, client.Options, error) {
	codec, err := c.Encryption.Open(getenv)
	if err != nil {
		return nil, client.Options{}, err
	}
	return dialWith(ctx, c, getenv, connect.Options{Codec: codec})
}

// dialRaw is dial for commands that need to know how values are encrypted.
func dialRaw(ctx context.Context, c *config.Config, getenv func(string) string) (client.Client, client.Options, error) {
	return dialWith(ctx, c, getenv, connect.Options{Raw: true})
}

func dialWith(ctx context.Context, c *config.Config, getenv func(string) string, o connect.Options) (client.Client, client.Options, error) {
	o.Address, o.Namespace, o.Logger = c.Temporal.Address, c.Temporal.Namespace, slog.New(slog.DiscardHandler)
	o.Propagators = []workflow.ContextPropagator{header.Propagator(), telemetry.Propagator()}
	if !platform.External(c, getenv) {
		o.Address, o.Embedded = fmt.Sprintf("127.0.0.1:%d", c.Temporal.Port), true
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	temporal, settings, err := connect.Dial(ctx, o)
	if err != nil {
		return nil, settings, fmt.Errorf("%w; is the agent running?", err)
	}
	return temporal, settings, nil
}
