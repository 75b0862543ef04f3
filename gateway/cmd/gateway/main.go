// Command gateway serves the REST API of an agent whose conversations run on an
// existing Temporal server. It keeps no state: run as many as you like.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"agent-stop-and-go/config"
	"agent-stop-and-go/config/backing"
	"agent-stop-and-go/config/logging"
	"agent-stop-and-go/gateway"
	"agent-stop-and-go/gateway/front"
)

// version is set by the build.
var version = "dev"

const usage = `gateway serves the REST API of an agent against an existing Temporal server.

Usage: gateway [--config FILE] [--version]

The server is temporal.address of the YAML file (default config/agent.yaml), or
TEMPORAL_ADDRESS with all of Temporal's usual environment settings. Workers and
gateways must share AGENT_CREDENTIAL_KEYS and the blob store (blobs.url).
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	if err := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "gateway:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("gateway", flag.ContinueOnError)
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
	return open(ctx, *file, getenv, stdout, stderr)
}

func open(ctx context.Context, file string, getenv func(string) string, stdout, stderr io.Writer) (err error) {
	logger, err := logging.New(stderr, getenv)
	if err != nil {
		return err
	}
	c, err := config.Load(file)
	if err != nil {
		return err
	}
	address := net.JoinHostPort(c.Host, strconv.Itoa(c.Port))
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("listen on %s: %w: stop the other process or set port in the YAML", address, err)
	}
	b, err := backing.Open(ctx, c, backing.Options{Getenv: getenv, Logger: logger})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	g, err := front.New(ctx, c, front.Parts{
		Client: b.Client, Namespace: b.Namespace, Blobs: b.Blobs, Keyring: b.Keyring, Logger: logger, Version: version,
	})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	fmt.Fprintf(stdout, "gateway of %s is ready: http://%s, Temporal %s, namespace %s, task queue %s\n",
		c.Name, listener.Addr(), b.Address, b.Namespace, c.Temporal.TaskQueue)
	return serve(ctx, listener, g)
}

// grace is how long open requests may take to finish.
const grace = 15 * time.Second

func serve(ctx context.Context, l net.Listener, g *gateway.Gateway) error {
	server := gateway.NewServer(g)
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		g.Close()
		return fmt.Errorf("serve HTTP: %w", err)
	case <-ctx.Done():
	}
	g.Close() // those that wait are told where to read the answer later
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil && !errors.Is(err, http.ErrServerClosed) {
		return errors.Join(fmt.Errorf("finish HTTP requests: %w", err), server.Close())
	}
	return nil
}
