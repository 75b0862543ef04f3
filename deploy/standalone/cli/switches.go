package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"agent-stop-and-go/deploy/standalone/cli/screen"
	"agent-stop-and-go/gateway/client"
)

const aboutPause = `Pause new destructive calls, for every agent of the Temporal namespace:
  all            every one
  agent NAME     those that an agent makes, or that delegate to it
  server NAME    those of a tool server
  tool NAME      those of a tool

A paused call waits, also one that a person has approved before: it is listed with the approvals,
nobody can approve it past the switch, and it goes on by itself after the resume. It can be
rejected. Calls that were sent already are not interrupted. Conversations, models and read-only
tools go on. A switch survives restarts, and is in force everywhere within a second.
`

func newPause(getenv func(string) string) *cobra.Command {
	var reason string
	cmd := newSwitch(getenv, "pause WHAT [NAME]", "Pause destructive calls", func(ctx context.Context, s *session, c client.SwitchChange) (client.Switches, error) {
		c.Reason = reason
		return s.Pause(ctx, c)
	})
	cmd.Long = aboutPause
	cmd.Example = "  agent pause all --reason \"the disk is replaced\"\n  agent pause server resources\n  agent resume all"
	cmd.Flags().StringVar(&reason, "reason", "", "why; a `text` that is shown with each call that waits")
	return cmd
}

func newResume(getenv func(string) string) *cobra.Command {
	cmd := newSwitch(getenv, "resume WHAT [NAME]", "Let paused destructive calls go on", func(ctx context.Context, s *session, c client.SwitchChange) (client.Switches, error) {
		return s.Resume(ctx, c)
	})
	cmd.Example = "  agent switches\n  agent resume all\n  agent resume server resources"
	return cmd
}

func newSwitch(getenv func(string) string, use, short string, change func(context.Context, *session, client.SwitchChange) (client.Switches, error)) *cobra.Command {
	var by string
	cmd := &cobra.Command{Use: use, Short: short, Args: switchArguments, ValidArgs: []string{"all", "agent", "server", "tool"}}
	f := AddFlags(cmd, getenv)
	cmd.Flags().StringVar(&by, "by", "", "who does it; a `name` for the record (default $USER, unless there is a key)")
	cmd.RunE = f.session(func(s *session, cmd *cobra.Command, args []string) error {
		list, err := change(cmd.Context(), s, client.SwitchChange{What: strings.Join(args, ":"), By: f.decider(by)})
		if err != nil {
			return err
		}
		return s.showSwitches(list)
	})
	return cmd
}

func switchArguments(_ *cobra.Command, args []string) error {
	if len(args) == 1 && args[0] == "all" || len(args) == 2 && (args[0] == "agent" || args[0] == "server" || args[0] == "tool") {
		return nil
	}
	return &UsageError{fmt.Errorf("expected all, agent NAME, server NAME or tool NAME")}
}

func newSwitches(getenv func(string) string) *cobra.Command {
	cmd := &cobra.Command{Use: "switches", Short: "List what is paused", Args: arguments()}
	f := AddFlags(cmd, getenv)
	cmd.RunE = f.session(func(s *session, cmd *cobra.Command, _ []string) error {
		list, err := s.Switches(cmd.Context())
		if err != nil {
			return err
		}
		return s.showSwitches(list)
	})
	return cmd
}

func (s *session) showSwitches(list client.Switches) error {
	return s.show(list, func(w io.Writer) {
		switch {
		case list.Note != "":
			fmt.Fprintln(w, screen.Safe(list.Note))
			return
		case len(list.Switches) == 0:
			fmt.Fprintln(w, "Nothing is paused.")
			return
		}
		rows := [][]string{{"PAUSED", "SINCE", "BY", "REASON"}}
		for _, one := range list.Switches {
			rows = append(rows, []string{one.What, age(one.Since), one.By, one.Reason})
		}
		table(w, rows...)
	})
}
