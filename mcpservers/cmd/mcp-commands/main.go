// Command mcp-commands is a tool server whose tools are commands in YAML files. Run it with --help
// for its commands; package commands has the details.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// version is set by the build.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	p := process{os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr}
	if err := p.run(ctx); err != nil {
		if !errors.Is(err, errFailed) {
			fmt.Fprintln(os.Stderr, "mcp-commands:", err)
		}
		os.Exit(1)
	}
}

// process is what a program gets from outside.
type process struct {
	args           []string
	getenv         func(string) string
	stdin          io.Reader
	stdout, stderr io.Writer
}

// errFailed ends the program with 1; what failed is already on stdout.
var errFailed = errors.New("failed")

// run dispatches to a command. Without one it is the server.
func (p process) run(ctx context.Context) error {
	first := ""
	if len(p.args) > 0 {
		first = p.args[0]
	}
	rest := p
	if len(p.args) > 0 {
		rest.args = p.args[1:]
	}
	if len(rest.args) > 0 && (rest.args[0] == "--help" || rest.args[0] == "-h") {
		first = "help" // of every command
	}
	switch first {
	case "server":
		return rest.server(ctx)
	case "tools":
		return rest.tools(ctx)
	case "config":
		return rest.config()
	case "convert":
		return rest.convert()
	case "client":
		return rest.client(ctx)
	case "bridge":
		return rest.bridge(ctx)
	case "help", "--help", "-h":
		_, err := io.WriteString(p.stdout, usage)
		return err
	case "version", "--version":
		_, err := fmt.Fprintln(p.stdout, version)
		return err
	case "":
		return errors.New("a command is missing: server, tools, config, convert, client or bridge (see --help)")
	}
	if first[0] == '-' { // flags of the server, as for the other servers
		return p.server(ctx)
	}
	return fmt.Errorf("unknown command %q (see --help)", first)
}
