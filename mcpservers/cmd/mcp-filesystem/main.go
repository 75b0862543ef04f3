// Command mcp-filesystem is a tool server for agents: files below named folders.
// Run it with --help; package filesystem says the rest.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"agent-stop-and-go/mcpservers/filesystem"
	"agent-stop-and-go/mcpservers/hosting"

	"github.com/mark3labs/mcp-go/server"
)

// version is set by the build.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	if err := run(ctx, os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "mcp-filesystem:", err)
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
	files, err := filesystem.New(config, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	return hosting.Run(ctx, hosting.Options{
		Settings: config.Settings, Name: filesystem.Name, Token: token, Log: log,
		Details: []any{"roots", len(config.Roots)}, Stdin: stdin, Stdout: stdout,
		MaxBody: 2*config.MaxWriteSize + 1<<20, // content grows when it is put into JSON
	}, newServer(files))
}

func newServer(files *filesystem.Server) *server.MCPServer {
	s := server.NewMCPServer(filesystem.Name, filesystem.Version,
		server.WithToolCapabilities(false),
		server.WithInstructions(filesystem.Instructions),
		server.WithStrictInputSchemaDefault(),
		hosting.RemembersCalls(),
		server.WithRecovery(),
		server.WithResourceRecovery(),
	)
	files.Register(s)
	return s
}
