package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"agent-stop-and-go/deploy/standalone/cli/screen"
	"agent-stop-and-go/gateway/client"
)

const aboutRelease = `Release calls that wait for more people than the rules of now ask for. Rules that change while a
call waits never release it by themselves: agent policy release does, for the approvals that are
named, or with --all for every one of the agent. A released call runs, or needs only those whom the
rules of now name; who has approved it before counts. The record says by which version of the rules
it was released, and through whom.

It needs the scope operate. --dry-run shows what would be released.
`

// NewRelease returns the command that releases calls.
func NewRelease(getenv func(string) string) *cobra.Command {
	var in client.ReleaseRequest
	cmd := &cobra.Command{Use: "release [UUID…]", Short: "Release calls that wait for more than the rules of now ask", Long: aboutRelease}
	cmd.Example = "  agent policy release --all --dry-run\n  agent policy release --all --policy 0123456789ab --reason \"the limit was raised\""
	f := AddFlags(cmd, getenv)
	cmd.Flags().BoolVar(&in.All, "all", false, "release every approval of the agent")
	cmd.Flags().BoolVar(&in.DryRun, "dry-run", false, "show what would be released")
	cmd.Flags().StringVar(&in.Policy, "policy", "", "release only by this `version` of the rules")
	cmd.Flags().StringVar(&in.Reason, "reason", "", "why; a `text` for the record")
	cmd.Flags().StringVar(&in.By, "by", "", "who does it; a `name` for the record (default $USER, unless there is a key)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if in.All == (len(args) > 0) {
			return &UsageError{fmt.Errorf("expected the UUIDs of approvals, or --all")}
		}
		s, err := f.open(cmd)
		if err != nil {
			return err
		}
		in.Approvals, in.By = args, f.decider(in.By)
		list, err := s.Release(cmd.Context(), in)
		if err != nil {
			return err
		}
		if err := s.showReleases(list, in.DryRun); err != nil {
			return err
		}
		for _, a := range list.Approvals {
			if a.Error != "" {
				return fmt.Errorf("not all of them are released")
			}
		}
		return nil
	}
	return cmd
}

func (s *session) showReleases(list client.Releases, dry bool) error {
	return s.show(list, func(w io.Writer) {
		if len(list.Approvals) == 0 {
			fmt.Fprintln(w, "No approval waits for more than the rules of now ask.")
			return
		}
		rows := [][]string{{"APPROVAL", "TOOL", "SINCE", "POLICY", "THEN", "RELEASED"}}
		for _, a := range list.Approvals {
			state := "yes"
			switch {
			case a.Error != "":
				state = "no: " + a.Error
			case dry:
				state = "not yet"
			}
			rows = append(rows, []string{a.UUID, a.ToolName, age(a.CreatedAt), a.Policy, thenText(a.Would), state})
		}
		table(w, rows...)
	})
}

// thenText says what a released call does.
func thenText(w client.Would) string {
	if w.Run {
		return "runs"
	}
	var all []string
	for _, n := range w.Asks {
		text := fmt.Sprint(max(n.Count, 1))
		if len(n.By) > 0 {
			text += " of " + strings.Join(n.By, " or ")
		}
		all = append(all, text)
	}
	return screen.Safe("asks " + strings.Join(all, ", "))
}

// lastJudgement says what the rules say now of a call that waits.
func lastJudgement(list []client.Judgement) string {
	if len(list) == 0 {
		return ""
	}
	j := list[len(list)-1]
	text := fmt.Sprintf("by policy version %s: %s", j.Policy, j.Effect)
	if len(j.Asks) > 0 {
		text += ", " + thenText(client.Would{Asks: j.Asks})
	}
	if j.Would != nil {
		text += "; released by agent policy release it " + thenText(*j.Would)
	}
	return text
}
