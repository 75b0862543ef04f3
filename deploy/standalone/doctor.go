package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"agent-stop-and-go/config"
	"agent-stop-and-go/deploy/standalone/auditor"
	"agent-stop-and-go/deploy/standalone/cli"
	"agent-stop-and-go/deploy/standalone/cli/screen"
	"agent-stop-and-go/deploy/standalone/doctor"
	"agent-stop-and-go/gateway/client"
	"agent-stop-and-go/worker"
	"agent-stop-and-go/workflows/contract/audit"
)

const aboutDoctor = `Say what an agent lacks, and what to do about it. It looks at the file of the agent, at the
keys and variables that the file needs, at the agent that runs with it (at the port of the
file, unless --url or AGENT_URL names another), at Temporal, at every tool server, at the
witnesses of its audit log and at every other agent. Nothing is changed; while no agent runs, the tool servers with a command are
started for a moment.

It fails when there is a problem.
`

func newDoctor(getenv func(string) string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what is missing, and what to do about it",
		Long:  aboutDoctor,
		Example: `  agent doctor
  agent doctor --config config/agent.yaml --json`,
		GroupID: groupServe,
		Args:    noArguments,
	}
	flags := cli.AddFlags(cmd, getenv)
	var file string
	addFile(cmd, &file)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		asJSON, err := flags.JSON()
		if err != nil {
			return err
		}
		findings := doctor.Examine(cmd.Context(), doctor.Patient{
			File: file, Getenv: getenv,
			Client: func(c *config.Config) (*client.Client, error) { return flags.ClientAt(urlOf(c)) },
			Connect: func(ctx context.Context, c *config.Config) ([]string, error) {
				return worker.Connect(ctx, c, getenv)
			},
			Audit: func(ctx context.Context, c *config.Config) (audit.View, error) { return auditOf(ctx, c, getenv) },
		})
		if asJSON {
			err = cli.PrintJSON(cmd.OutOrStdout(), findings)
		} else {
			err = printFindings(cmd.OutOrStdout(), findings)
		}
		return errors.Join(err, problemsAmong(findings))
	}
	return cmd
}

// auditOf asks the agent that runs with a file what it knows of its audit log.
func auditOf(ctx context.Context, c *config.Config, getenv func(string) string) (audit.View, error) {
	temporal, _, err := dial(ctx, c, getenv)
	if err != nil {
		return audit.View{}, err
	}
	defer temporal.Close()
	return auditor.View(ctx, temporal)
}

// urlOf returns the address of the agent that runs on this machine with a file.
func urlOf(c *config.Config) string {
	return "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(c.Port))
}

func printFindings(w io.Writer, findings []doctor.Finding) error {
	var b strings.Builder
	for _, f := range findings {
		fmt.Fprintf(&b, "%-8s %s: %s\n", f.State, screen.Safe(f.Part), strings.ReplaceAll(screen.Safe(f.Text), "\n", "\n         "))
		if f.Advice != "" {
			fmt.Fprintf(&b, "         → %s\n", screen.Safe(f.Advice))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// problemsAmong returns an error if there are problems.
func problemsAmong(findings []doctor.Finding) error {
	n := 0
	for _, f := range findings {
		if f.State == doctor.Problem {
			n++
		}
	}
	switch n {
	case 0:
		return nil
	case 1:
		return errors.New("there is 1 problem")
	}
	return fmt.Errorf("there are %d problems", n)
}
