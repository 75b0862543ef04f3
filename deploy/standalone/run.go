package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"agent-stop-and-go/config"
	"agent-stop-and-go/config/command"
	"agent-stop-and-go/deploy/standalone/process"
	"agent-stop-and-go/workflows/contract"
)

const aboutRun = `Start everything on this machine: the Temporal server with its Web UI, a worker and
the gateway. With a Temporal server of your own (TEMPORAL_ADDRESS, or temporal.address in
the file) it starts none.

It prints its addresses, and what is missing until it is ready. Ctrl-C stops it in order;
what waits for an approval goes on waiting.

Environment:
  GEMINI_API_KEY, ANTHROPIC_API_KEY, OPENAI_API_KEY, MISTRAL_API_KEY, OPENROUTER_API_KEY
                          the key of the configured model's provider
  TEMPORAL_ADDRESS        use this Temporal server instead of an embedded one
  AGENT_CREDENTIAL_KEYS   "id:base64,…": seals callers' tokens; needed with a Temporal
                          server of your own
  LOG_LEVEL, LOG_FORMAT   debug, info, warn or error; text or json
  OTEL_METRICS_EXPORTER   prometheus serves metrics at http://localhost:9464/metrics; otlp
                          sends them to OTEL_EXPORTER_OTLP_ENDPOINT
  OTEL_TRACES_EXPORTER    otlp sends traces there
`

// agentFlags are the flags of the commands that read the file of an agent.
type agentFlags struct {
	file string
	// demo means that the offline model replaces a model without a key.
	demo bool
}

func (f *agentFlags) add(cmd *cobra.Command) {
	addFile(cmd, &f.file)
	cmd.Flags().BoolVar(&f.demo, "demo-if-no-key", false, "let the offline model demo:rules answer when the model's API key is not set")
}

// addFile adds the flag with the file of the agent.
func addFile(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVar(file, "config", "config/agent.yaml", "the `file` of the agent")
	_ = cmd.MarkFlagFilename("config", "yaml", "yml") // the flag is there
}

func newRun(getenv func(string) string) *cobra.Command {
	var f agentFlags
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Start an agent and everything it needs on this machine",
		Long:  aboutRun,
		Example: `  agent run --config config/agent.yaml
  agent run --demo-if-no-key          try it without an API key`,
		GroupID: groupServe,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return start(cmd.Context(), f.file, f.demo, getenv, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f.add(cmd)
	return cmd
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
	stopTelemetry, err := e.Observe(ctx, "agent", version)
	if err != nil {
		return err
	}
	defer stopTelemetry()
	os.Unsetenv("OTEL_TRACES_EXPORTER") // ours has it; the embedded server would trace every poll
	defer process.LimitMemory(getenv)()
	p, err := process.Start(ctx, c, process.Options{Getenv: getenv, Logger: logger, Version: version, Metrics: e.Telemetry.Handler()})
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
