package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"agent-stop-and-go/config"
	"agent-stop-and-go/config/command"
	"agent-stop-and-go/deploy/standalone/process"
	"agent-stop-and-go/workflows/contract"
)

const usage = `agent runs an AI agent that stops before destructive calls until a person approves.

Usage:
  agent [run] [--config FILE] [--demo-if-no-key]   start everything on this machine
  agent validate [--config FILE] [--demo-if-no-key] [--connect]
                                                   check a configuration and print what it resolves to;
                                                   a key or a variable that is not set is an error
  agent version                                    print the version
  agent help                                       print this

Flags:
  --config FILE       the agent's YAML file (default config/agent.yaml)
  --demo-if-no-key    use the offline model demo:rules when the configured model's API key is not set
  --connect           validate: also start and ask the tool servers; one that does not answer,
                      and two tools of one name, are errors

Environment:
  GEMINI_API_KEY, ANTHROPIC_API_KEY, OPENAI_API_KEY, MISTRAL_API_KEY, OPENROUTER_API_KEY
                      the key of the configured model's provider
  TEMPORAL_ADDRESS    use this Temporal server instead of an embedded one
  AGENT_CREDENTIAL_KEYS
                      "id:base64,…": seals callers' tokens; needed with a Temporal server of your own
  LOG_LEVEL, LOG_FORMAT
                      debug, info, warn or error; text or json
`

func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) error {
	verb := "run"
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		verb, args = args[0], args[1:]
	}
	flags := flag.NewFlagSet("agent", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() { fmt.Fprint(stderr, usage) }
	file := flags.String("config", "config/agent.yaml", "")
	demo := flags.Bool("demo-if-no-key", false, "")
	connect := flags.Bool("connect", false, "")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return nil
	case err != nil:
		return command.ErrUsage
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "agent: unexpected argument %q\n\n%s", flags.Arg(0), usage)
		return command.ErrUsage
	}
	if *connect && verb != "validate" {
		fmt.Fprintf(stderr, "agent: --connect is for agent validate\n\n%s", usage)
		return command.ErrUsage
	}
	switch verb {
	case "run":
		return start(ctx, *file, *demo, getenv, stdout, stderr)
	case "validate":
		return validation{file: *file, demo: *demo, connect: *connect}.run(ctx, getenv, stdout)
	case "version":
		_, err := fmt.Fprintln(stdout, version)
		return err
	case "help":
		_, err := fmt.Fprint(stdout, usage)
		return err
	}
	fmt.Fprintf(stderr, "agent: unknown command %q\n\n%s", verb, usage)
	return command.ErrUsage
}

// stopGrace bounds how long open HTTP requests may delay the end.
const stopGrace = 15 * time.Second

func start(ctx context.Context, file string, demo bool, getenv func(string) string, stdout, stderr io.Writer) error {
	began := time.Now()
	e, err := command.Open(file, getenv, stdout, stderr)
	if err != nil {
		return err
	}
	c, logger := e.Config, e.Logger
	notes := chooseModel(c, demo, getenv)
	defer process.LimitMemory(getenv)()
	p, err := process.Start(ctx, c, process.Options{Getenv: getenv, Logger: logger, Version: version})
	if err != nil {
		return command.Stopped(ctx, err)
	}
	looking, cancelLooks := context.WithCancel(ctx)
	var looks sync.WaitGroup
	looks.Go(func() {
		a := announcer{out: stdout, config: c, process: p, notes: notes, began: began}
		p.AwaitReady(looking, a.tell)
	})
	select {
	case <-ctx.Done():
		logger.Info("stopping: running calls are finished first")
	case err = <-p.Failed:
	}
	cancelLooks()
	looks.Wait()
	stopCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopGrace)
	defer cancel()
	return errors.Join(err, p.Stop(stopCtx))
}

// chooseModel falls back to the offline model when that is wanted and a model of
// the agent cannot be called at all. It returns what the user should know about
// models and their keys besides what keeps it from being ready, a line each.
func chooseModel(c *config.Config, demo bool, getenv func(string) string) []string {
	missing := c.KeysMissing(getenv)
	stuck := slices.IndexFunc(missing, func(k config.MissingKey) bool { return !k.Spared })
	if demo && stuck >= 0 {
		wanted := c.Model()
		c.UseModel(contract.DemoModel)
		return []string{fmt.Sprintf("%s is not set, so an offline stand-in without intelligence answers; set it to use %s",
			missing[stuck].Variable, wanted)}
	}
	var notes []string
	for _, key := range missing {
		if key.Spared { // the others are told as problems
			notes = append(notes, "Warning: "+key.String())
		}
	}
	return notes
}
