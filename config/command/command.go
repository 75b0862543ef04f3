package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"agent-stop-and-go/config"
	"agent-stop-and-go/config/logging"
	"agent-stop-and-go/config/process"
	"agent-stop-and-go/config/telemetry"
)

// Environment is the environment of a program.
type Environment struct {
	Config *config.Config
	Getenv func(string) string
	Logger *slog.Logger
	Stdout io.Writer
	// Telemetry is that of the process.
	Telemetry *telemetry.Telemetry
}

// Command is a program.
type Command struct {
	Name, Usage, Version string
	// Run runs until ctx ends, and then shuts down.
	Run func(ctx context.Context, e Environment) error
}

// Main runs the command as the process and does not return.
func (c Command) Main() {
	ctx, stop := process.Signals()
	err := c.Execute(ctx, os.Args[1:], process.WithFiles(os.Getenv, os.Stderr), os.Stdout, os.Stderr)
	stop()
	process.Exit(c.Name, err)
}

// Execute runs the command with the given arguments and streams.
func (c Command) Execute(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet(c.Name, flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() { fmt.Fprint(stderr, c.Usage) }
	file := flags.String("config", "config/agent.yaml", "")
	version := flags.Bool("version", false, "")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return nil
	case err != nil:
		return process.ErrUsage
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "%s: unexpected argument %q\n\n%s", c.Name, flags.Arg(0), c.Usage)
		return process.ErrUsage
	case *version:
		_, err := fmt.Fprintln(stdout, c.Version)
		return err
	}
	e, err := Open(*file, getenv, stdout, stderr)
	if err != nil {
		return err
	}
	stop, err := e.Observe(ctx, c.Name, c.Version)
	if err != nil {
		return err
	}
	defer stop()
	return Stopped(ctx, c.Run(ctx, e))
}

// telemetryGrace limits how long a process that ends exports what it has measured.
const telemetryGrace = 5 * time.Second

// Observe starts the telemetry of the process. Call stop when everything else has stopped.
func (e *Environment) Observe(ctx context.Context, service, version string) (stop func(), err error) {
	e.Telemetry, err = telemetry.Start(ctx, telemetry.Options{Service: service, Version: version, Getenv: e.Getenv, Logger: e.Logger})
	if err != nil {
		return nil, err
	}
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), telemetryGrace)
		defer cancel()
		if err := e.Telemetry.Stop(ctx); err != nil {
			e.Logger.Warn("telemetry", "error", err)
		}
	}, nil
}

// Stopped returns the error of a run, or nil if the run ended because ctx did.
func Stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

// Open creates the logger and loads a configuration, whose warnings it logs.
func Open(file string, getenv func(string) string, stdout, stderr io.Writer) (Environment, error) {
	logger, err := logging.New(stderr, getenv)
	if err != nil {
		return Environment{}, err
	}
	c, err := config.Load(file)
	if err != nil {
		return Environment{}, err
	}
	for _, warning := range c.Warnings() {
		logger.Warn(warning)
	}
	return Environment{Config: c, Getenv: getenv, Logger: logger, Stdout: stdout}, nil
}
