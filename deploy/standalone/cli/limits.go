package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"agent-stop-and-go/deploy/standalone/cli/screen"
	"agent-stop-and-go/gateway/client"
)

const aboutLimits = `List the rate limits of calls (limits.rates of the configuration) as they are in force, with the
calls that count now. A caller sees the counts that all share and its own; with the scope operate,
everybody's.

To change a limit while the agent runs needs the scope operate. The change survives restarts until
it is restored, and is in force within a second, for calls that wait within ten minutes.
`

func newLimits(getenv func(string) string) *cobra.Command {
	cmd := &cobra.Command{Use: "limits", Short: "List or change the rate limits of calls", Long: aboutLimits, Args: arguments()}
	cmd.Example = "  agent limits\n  agent limits set \"server db per caller\" --calls 5 --reason \"the database is slow\"\n  agent limits restore \"server db per caller\""
	f := AddFlags(cmd, getenv)
	cmd.RunE = f.session(func(s *session, cmd *cobra.Command, _ []string) error {
		list, err := s.RateLimits(cmd.Context())
		if err != nil {
			return err
		}
		return s.showLimits(list)
	})
	cmd.AddCommand(newLimitChange(getenv, "set NAME", "Change a rate limit", true), newLimitChange(getenv, "restore NAME", "Make a rate limit the configured one again", false))
	return cmd
}

func newLimitChange(getenv func(string) string, use, short string, sets bool) *cobra.Command {
	change := client.LimitChange{Restore: !sets}
	cmd := &cobra.Command{Use: use, Short: short, Args: arguments("NAME")}
	f := AddFlags(cmd, getenv)
	if sets {
		cmd.Flags().IntVar(&change.Calls, "calls", 0, "how many `calls` may run in the time")
		cmd.Flags().StringVar(&change.In, "in", "", "the time; a `duration` such as 60s")
		cmd.Flags().StringVar(&change.OnLimit, "on-limit", "", "what happens to one call more: deny, ask or pause")
	}
	cmd.Flags().StringVar(&change.Reason, "reason", "", "why; a `text` for the record")
	cmd.Flags().StringVar(&change.By, "by", "", "who does it; a `name` for the record (default $USER, unless there is a key)")
	cmd.RunE = f.session(func(s *session, cmd *cobra.Command, args []string) error {
		change.Limit, change.By = args[0], f.decider(change.By)
		list, err := s.ChangeLimit(cmd.Context(), change)
		if err != nil {
			return err
		}
		return s.showLimits(list)
	})
	return cmd
}

func (s *session) showLimits(list client.RateLimits) error {
	return s.show(list, func(w io.Writer) {
		if len(list.Limits) == 0 {
			fmt.Fprintln(w, screen.Safe(cmp.Or(list.Note, "There are no rate limits.")))
			return
		}
		rows := [][]string{{"LIMIT", "CALLS", "THEN", "USED", "CHANGED"}}
		for _, l := range list.Limits {
			changed := ""
			if l.Changed != nil {
				changed = strings.TrimRight("by "+cmp.Or(l.Changed.By, "somebody")+": "+l.Changed.Reason, ": ")
			}
			row := []string{l.Name, fmt.Sprintf("%d in %s", l.Calls, l.In), l.OnLimit, "0", changed}
			for i, u := range l.Use {
				if i > 0 {
					rows = append(rows, row)
					row = []string{"", "", "", "", ""}
				}
				row[3] = usedText(u)
			}
			rows = append(rows, row)
		}
		table(w, rows...)
		if list.Note != "" {
			fmt.Fprintln(w, screen.Safe(list.Note))
		}
	})
}

func usedText(u client.LimitUse) string {
	text := fmt.Sprint(u.Used)
	if u.Waiting > 0 {
		text += fmt.Sprintf(", %d waiting", u.Waiting)
	}
	if u.Who != "" {
		text += " (" + u.Who + ")"
	}
	return text
}
