// Command mcp-resources is a tool server for agents: it stores named whole
// numbers. Run it with --help; package resources says the rest.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"agent-stop-and-go/mcpservers/resources"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	if err := run(ctx, os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "mcp-resources:", err)
		os.Exit(1)
	}
}

// run is the program without the process around it. It returns nil when ctx
// ends, and in stdio mode when stdin does.
func run(ctx context.Context, args []string, getenv func(string) string, stdin io.Reader, stdout, stderr io.Writer) (err error) {
	options, err := parseOptions(args, stdout)
	if err != nil || options.help {
		return err
	}
	log, err := newLogger(getenv("LOG_LEVEL"), stderr)
	if err != nil {
		return err
	}
	var listener net.Listener
	if !options.stdio {
		if listener, err = listen(ctx, options.config); err != nil {
			return err
		}
		defer listener.Close()
	}
	store, err := resources.Open(ctx, options.config.DBPath)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	server := resources.NewServer(store, log)
	if options.stdio {
		log.Info("serving on stdio", "db", options.config.DBPath)
		return resources.ServeStdio(ctx, server, stdin, stdout, log)
	}
	log.Info("listening", "url", "http://"+listener.Addr().String()+"/mcp", "db", options.config.DBPath)
	return resources.NewHTTP(server, log).Serve(ctx, listener)
}

func listen(ctx context.Context, config resources.Config) (net.Listener, error) {
	address := net.JoinHostPort(config.Host, strconv.Itoa(config.Port))
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("listen on %s: the port is taken; stop the program that has it or choose another with --port", address)
	}
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	return listener, nil
}

func newLogger(level string, stderr io.Writer) (*slog.Logger, error) {
	var at slog.Level
	if level != "" {
		if err := at.UnmarshalText([]byte(level)); err != nil {
			return nil, fmt.Errorf("LOG_LEVEL %q is unknown: use debug, info, warn or error", level)
		}
	}
	return slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: at})), nil
}
