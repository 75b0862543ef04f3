package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"agent-stop-and-go/deploy/standalone/cli/screen"
	"agent-stop-and-go/mcpservers/lint"
	"agent-stop-and-go/mcpservers/mirror"
)

const aboutLint = `Tell the faults of a tool server, at a URL or started by a command, that models, agents and
those who approve run into: missing or contradicting hints, names, traps in schemas, sizes, slow answers.
No tool is called. It fails if there are errors, and not if there are only warnings.
`

func newToolsLint(getenv func(string) string) *cobra.Command {
	var tokenEnv string
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "lint URL | lint -- COMMAND [ARGUMENT…]",
		Short:   "Tell the faults of a tool server",
		Long:    aboutLint,
		Example: "  agent tools lint http://127.0.0.1:8090/mcp\n  agent tools lint -- mcp-resources --stdio",
		Args:    cobra.MinimumNArgs(1),
	}
	cmd.Flags().StringVar(&tokenEnv, "auth-token-env", "", "environment variable with the bearer token of the server")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the faults as JSON")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		target, err := mirror.Parse(args)
		if err != nil {
			return &UsageError{err}
		}
		target.Name, target.Stderr = "agent-tools-lint", cmd.ErrOrStderr()
		if tokenEnv != "" {
			target.Token = getenv(tokenEnv)
		}
		faults, err := lintOf(cmd.Context(), target)
		if err != nil {
			return err
		}
		return report(cmd.OutOrStdout(), faults, asJSON)
	}
	return cmd
}

// lintTime bounds the whole command.
const lintTime = time.Minute

func lintOf(ctx context.Context, target mirror.Target) ([]lint.Fault, error) {
	ctx, cancel := context.WithTimeout(ctx, lintTime)
	defer cancel()
	c, err := mirror.Connect(ctx, target)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return lint.Server(ctx, c)
}

func report(to io.Writer, faults []lint.Fault, asJSON bool) error {
	errors := 0
	rows := [][]string{{"SEVERITY", "KIND", "TOOL", "FAULT"}}
	for _, f := range faults {
		if f.Severity == lint.Error {
			errors++
		}
		rows = append(rows, []string{f.Severity, f.Kind, screen.Safe(f.Tool), screen.Safe(f.Text)})
	}
	switch {
	case asJSON:
		if err := PrintJSON(to, faults); err != nil {
			return err
		}
	case len(faults) == 0:
		fmt.Fprintln(to, "No faults.")
	default:
		tableOf(to, 400, rows) // what is to be done stands at the end
	}
	if errors > 0 {
		return fmt.Errorf("%d of the %d faults are errors", errors, len(faults))
	}
	return nil
}
