package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"
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

// stopGrace bounds how long open HTTP requests may hold up the end.
const stopGrace = 15 * time.Second

func start(ctx context.Context, file string, demo bool, getenv func(string) string, stdout, stderr io.Writer) error {
	began := time.Now()
	e, err := command.Open(file, getenv, stdout, stderr)
	if err != nil {
		return err
	}
	c, logger := e.Config, e.Logger
	notes := chooseModel(c, demo, getenv)
	// The embedded server allocates much and keeps little: fewer collections
	// are worth about a fifth more turns for some 200 MiB.
	if getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	p, err := process.Start(ctx, c, process.Options{Getenv: getenv, Logger: logger, Version: version})
	if err != nil {
		return err
	}
	if err = greet(stdout, c, p, notes, time.Since(began)); err == nil {
		select {
		case <-ctx.Done():
			logger.Info("stopping: running calls are finished first")
		case err = <-p.Failed:
		}
	}
	stopCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopGrace)
	defer cancel()
	return errors.Join(err, p.Stop(stopCtx))
}

// chooseModel falls back to the offline model when that is wanted and a model of
// the agent cannot be called at all. It returns what the user should know about
// models and their keys, a line each.
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
		notes = append(notes, "Warning: "+key.String())
	}
	return notes
}

// greet says where everything is, in one write.
func greet(out io.Writer, c *config.Config, p *process.Process, notes []string, took time.Duration) error {
	w := &strings.Builder{}
	fmt.Fprintf(w, "%s is ready after %.1f s\n\n", c.Name, took.Seconds())
	fmt.Fprintf(w, "  API       %s  (try it at %s/docs)\n", p.API, p.API)
	if p.UI != "" {
		fmt.Fprintf(w, "  Web UI    %s  (what waits: %s)\n", p.UI, approvalsURL(p.UI, p.Namespace))
	}
	fmt.Fprintf(w, "  Temporal  %s, namespace %s\n", p.Address, p.Namespace)
	fmt.Fprintf(w, "  Data      %s\n", c.DataDir)
	fmt.Fprintf(w, "  Model     %s\n", c.Model())
	for _, note := range notes {
		fmt.Fprintf(w, "            %s\n", note)
	}
	fmt.Fprintf(w, "\nStop it with Ctrl-C. What waits for an approval goes on waiting.\n")
	_, err := io.WriteString(out, w.String())
	return err
}
