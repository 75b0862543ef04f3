package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"agent-stop-and-go/config"
	"agent-stop-and-go/worker"
)

const aboutValidate = `Check the file of an agent and print what it resolves to: settings, models, servers, other
agents, and a drawing of its tree. All mistakes are reported at once, with their lines. A
key or a variable that is not set is a mistake, too. Nothing is started.

With --connect it also starts and asks the tool servers: one that does not answer, and two
tools of one name, are mistakes.
`

// validation has the settings of a check of a configuration.
type validation struct {
	agentFlags
	// connect means that the tool servers are contacted, too.
	connect bool
}

func newValidate(getenv func(string) string) *cobra.Command {
	var v validation
	cmd := &cobra.Command{
		Use:   "validate",
		Short: "Check the file of an agent and print what it resolves to",
		Long:  aboutValidate,
		Example: `  agent validate --config config/agent.yaml
  agent validate --config config/agent.yaml --connect`,
		GroupID: groupServe,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return v.run(cmd.Context(), getenv, cmd.OutOrStdout())
		},
	}
	v.add(cmd)
	cmd.Flags().BoolVar(&v.connect, "connect", false, "also start and ask the tool servers")
	return cmd
}

// run prints the resolved configuration. It fails on mistakes, on missing environment
// variables, and on problems of the contacted tool servers.
func (v validation) run(ctx context.Context, getenv func(string) string, stdout io.Writer) error {
	c, err := config.Load(v.file)
	if err != nil {
		return err
	}
	var notes []string
	if v.demo {
		notes = chooseModel(c, true, getenv)
	}
	if err := c.Describe(stdout, getenv); err != nil {
		return err
	}
	for _, note := range notes {
		if _, err := fmt.Fprintf(stdout, "\n%s\n", note); err != nil {
			return err
		}
	}
	var problems []string
	for _, p := range c.Problems(getenv) {
		problems = append(problems, p.Error())
	}
	if v.connect {
		found, err := worker.Connect(ctx, c, getenv)
		if err != nil {
			problems = append(problems, err.Error())
		}
		problems = append(problems, found...)
	}
	if len(problems) > 0 {
		return errors.New(strings.Join(problems, "\n"))
	}
	return nil
}
