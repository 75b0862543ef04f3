// Command mcp-resources is a tool server for agents: it stores named whole
// numbers. Run it with --help; package resources says the rest.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"agent-stop-and-go/mcpservers/hosting"
	"agent-stop-and-go/mcpservers/resources"
)

// version is set by the build.
var version = "dev"

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
	config, done, err := parseOptions(args, stdout)
	if err != nil || done {
		return err
	}
	log, err := hosting.NewLogger(getenv("LOG_LEVEL"), stderr)
	if err != nil {
		return err
	}
	token, err := config.Token(getenv)
	if err != nil {
		return err
	}
	store, err := resources.Open(ctx, config.DBPath)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	sessions, err := hosting.OpenSessions(ctx, config.DBPath)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sessions.Close()) }()
	return hosting.Run(ctx, hosting.Options{
		Settings: config.Settings, Name: resources.Name, Token: token, Sessions: sessions,
		Log: log, Details: []any{"db", config.DBPath}, Stdin: stdin, Stdout: stdout,
	}, resources.NewServer(store, log))
}
