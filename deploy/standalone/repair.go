package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"agent-stop-and-go/config"
	"agent-stop-and-go/deploy/standalone/cli"
	"agent-stop-and-go/deploy/standalone/cli/screen"
	"agent-stop-and-go/deploy/standalone/repair"
)

const aboutRepair = `List the workflows of this agent that cannot go on: those whose task has failed five times or more
and is tried again, and conversations whose run has failed. With --yes those are reset to their
last workflow task that was completed, and do again what came after it.

A task that fails goes on by itself as soon as a worker can carry it out: first start a version
that can ("agent replay" says whether one could), and repair only what still fails then.

No reset is offered where a destructive call lies after the point or was running then, in the
workflow or in one that it has started since: the call would be forgotten. The list names these
calls, whether they have run or may have run. Messages and decisions that have arrived since are delivered again; approvals
that were opened since ask again.

Without --yes nothing is changed. It fails if a workflow is found that is not repaired.
`

type repairFlags struct {
	file   string
	event  int64
	yes    bool
	asJSON bool
}

func newRepair(getenv func(string) string) *cobra.Command {
	var f repairFlags
	cmd := &cobra.Command{
		Use: "repair [WORKFLOW-ID...]", Short: "Reset workflows that cannot go on, where no destructive call is lost", Long: aboutRepair, GroupID: groupServe,
		Example: `  agent repair
  agent repair --yes conversation-7f9c24e8-3b12-4fef-91e0-5a1b2c3d4e5f`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.event != 0 && len(args) != 1 {
				return &usageError{errors.New("--event is for one WORKFLOW-ID"), cmd}
			}
			return f.run(cmd, args, getenv)
		},
	}
	addFile(cmd, &f.file)
	flags := cmd.Flags()
	flags.Int64Var(&f.event, "event", 0, "the `number` of an earlier WorkflowTaskCompleted to go back to")
	flags.BoolVar(&f.yes, "yes", false, "reset what can be reset")
	flags.BoolVar(&f.asJSON, "json", false, "print JSON")
	return cmd
}

func (f *repairFlags) run(cmd *cobra.Command, ids []string, getenv func(string) string) error {
	c, err := config.Load(f.file)
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	temporal, settings, err := dial(ctx, c, getenv)
	if err != nil {
		return err
	}
	defer temporal.Close()
	finder := repair.Finder{Server: temporal, Namespace: settings.Namespace, TaskQueue: c.Temporal.TaskQueue, Event: f.event}
	cases, failure := f.find(cmd, finder, ids)
	left := 0
	for i := range cases {
		if f.yes && cases[i].Blocked == "" {
			if err := finder.Reset(ctx, &cases[i]); err != nil {
				cases[i].Failure = err.Error()
			}
		}
		if cases[i].NewRun == "" {
			left++
		}
	}
	if failure == nil && left > 0 {
		failure = fmt.Errorf("%d of %d workflows are not repaired", left, len(cases))
	}
	return f.report(cmd.OutOrStdout(), cases, failure)
}

// report prints the cases, also those that were found before a failure, which it returns.
func (f *repairFlags) report(w io.Writer, cases []repair.Case, failure error) (err error) {
	switch {
	case f.asJSON:
		err = cli.PrintJSON(w, map[string]any{"cases": append([]repair.Case{}, cases...)})
	case failure == nil || len(cases) > 0:
		err = printCases(w, cases)
	}
	return errors.Join(err, failure)
}

// find returns the cases, or those of some workflows. After an error, those found before are
// returned too.
func (f *repairFlags) find(cmd *cobra.Command, finder repair.Finder, ids []string) (cases []repair.Case, err error) {
	if len(ids) == 0 {
		return finder.Find(cmd.Context())
	}
	for _, id := range ids {
		c, found, err := finder.Examine(cmd.Context(), id)
		if err != nil {
			return cases, err
		}
		if !found {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: nothing is wrong with it\n", screen.Line(id, 200))
			continue
		}
		cases = append(cases, c)
	}
	return cases, nil
}

func printCases(w io.Writer, cases []repair.Case) error {
	var b strings.Builder
	if len(cases) == 0 {
		b.WriteString("All workflows can go on.\n")
	}
	for _, c := range cases {
		fmt.Fprintf(&b, "%s (%s): %s\n", screen.Line(c.WorkflowID, 200), c.Type, problemOf(c))
		if c.Cause != "" {
			fmt.Fprintf(&b, "  %s\n", screen.Line(c.Cause, 500))
		}
		for _, call := range c.Calls {
			fmt.Fprintf(&b, "  %s: %s at %s, event %d of %s\n", screen.Line(call.Tool, 100), ranOf(call), call.At.Format(time.DateTime), call.Event, screen.Line(call.WorkflowID, 200))
		}
		switch {
		case c.NewRun != "":
			fmt.Fprintf(&b, "  reset to event %d: run %s\n", c.Event, c.NewRun)
		case c.Failure != "":
			fmt.Fprintf(&b, "  → not reset: %s\n", screen.Line(c.Failure, 500))
		case c.Blocked != "":
			fmt.Fprintf(&b, "  → no reset is offered: %s\n", screen.Line(c.Blocked, 500))
		default:
			fmt.Fprintf(&b, "  → agent repair --yes %s resets it to event %d, %s%s\n", screen.Line(c.WorkflowID, 200), c.Event, c.At.Format(time.DateTime), asksOf(c))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func problemOf(c repair.Case) string {
	if c.Problem == repair.RunFailed {
		return "its run has failed"
	}
	return fmt.Sprintf("its task has failed %d times", c.Attempts)
}

func ranOf(c repair.Call) string {
	if c.Ran {
		return "has run"
	}
	return "may have run"
}

func asksOf(c repair.Case) string {
	if len(c.Asks) == 0 {
		return ""
	}
	return "; asks again: " + screen.Line(strings.Join(c.Asks, ", "), 300)
}
