package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"agent-stop-and-go/deploy/standalone/cli/screen"
	"agent-stop-and-go/gateway/client"
	"agent-stop-and-go/workflows/contract/duration"
)

func newGrants(getenv func(string) string) *cobra.Command {
	cmd := &cobra.Command{
		Use: "grants", Short: "See and end approvals that count for later calls, too",
		Long: `See and end approvals that count for later calls, too.
They are given with agent approvals approve UUID --always SCOPE, where a rule offers it.
`,
	}
	f := AddFlags(cmd, getenv)
	return family(cmd, newGrantsList(f), newGrantsShow(f), newGrantsRevoke(f))
}

func giver(p client.GrantPerson) string {
	if p.Subject == "" && p.Claimed != "" {
		return p.Claimed + " (not proven)"
	}
	return cmp.Or(p.Subject, "somebody")
}

// stateOf returns how often a grant was used, and why it does not count any more.
func stateOf(g client.Grant) string {
	used := fmt.Sprintf("%d of %d", g.Used, g.Uses)
	switch {
	case g.RevokedBy != nil:
		return used + ", revoked by " + giver(*g.RevokedBy)
	case !g.Counts && g.Used < g.Uses:
		return used + ", its time is over"
	}
	return used
}

func newGrantsList(f *Flags) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List approvals that count for later calls, too", Args: arguments(),
		RunE: f.session(func(s *session, cmd *cobra.Command, _ []string) error {
			list, err := s.Grants(cmd.Context())
			if err != nil {
				return err
			}
			return s.show(map[string]any{"grants": list}, func(w io.Writer) {
				if len(list) == 0 {
					fmt.Fprintln(w, "No approval counts for later calls.")
					return
				}
				rows := [][]string{{"ID", "TOOL", "SERVER", "FOR", "UNTIL", "USED", "GIVEN BY"}}
				for _, g := range list {
					rows = append(rows, []string{g.ID, g.Tool, g.Server, g.Scope, toTheMinute(g.Until), stateOf(g), giver(g.By)})
				}
				table(w, rows...)
			})
		}),
	}
}

func newGrantsShow(f *Flags) *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "Show for which calls an approval counts", Args: arguments("ID"),
		RunE: f.session(func(s *session, cmd *cobra.Command, args []string) error {
			g, err := s.Grant(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return s.show(g, func(w io.Writer) {
				fmt.Fprintln(w, screen.Safe(g.Text))
				fmt.Fprint(w, screen.Field("given by", giver(g.By)))
				fmt.Fprint(w, screen.Field("since", toTheMinute(g.Since)))
				fmt.Fprint(w, screen.Field("used", stateOf(g)))
			})
		}),
	}
}

func newGrantsRevoke(f *Flags) *cobra.Command {
	return &cobra.Command{
		Use: "revoke ID", Short: "Have later calls ask again", Args: arguments("ID"),
		RunE: f.session(func(s *session, cmd *cobra.Command, args []string) error {
			if err := s.RevokeGrant(cmd.Context(), args[0]); err != nil {
				return err
			}
			return s.show(map[string]string{"revoked": args[0]}, func(w io.Writer) { fmt.Fprintln(w, "The next call asks.") })
		}),
	}
}

// always has the flags of an approval for later calls.
type always struct {
	client.AlwaysRequest
	within         time.Duration
	until, confirm string
}

func (a *always) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.Scope, "always", "", "approve later calls with the same arguments, too, where a rule offers it: of the `SCOPE` turn, conversation, caller or agent. Alone it only shows for which calls that would be")
	cmd.Flags().Var((*duration.Value)(&a.within), "for", "with --always: for how long, such as 2h or 3d (default: as long as the rule allows)")
	cmd.Flags().StringVar(&a.until, "until", "", "with --always: until when; a `time` such as 2026-08-31T18:00:00+02:00")
	cmd.Flags().IntVar(&a.Uses, "uses", 0, "with --always: for how many calls (default: as many as the rule allows)")
	cmd.Flags().StringArrayVar(&a.Open, "open", nil, "with --always: an `ARGUMENT` that may have another value; may be repeated")
	cmd.Flags().StringVar(&a.confirm, "confirm", "", "with --always: the `DIGEST` of what was shown, to grant it")
}

// complete checks the flags.
func (a *always) complete(others bool) error {
	switch {
	case a.Scope == "" && (a.within != 0 || a.until != "" || a.Uses != 0 || len(a.Open) > 0 || a.confirm != ""):
		return errors.New("--for, --until, --uses, --open and --confirm need --always")
	case a.Scope == "":
		return nil
	case others:
		return errors.New("--always approves one call as it is: name one UUID, without --set")
	case a.within != 0 && a.until != "":
		return errors.New("give either --for or --until")
	case a.within != 0:
		at := time.Now().Add(a.within).UTC().Truncate(time.Second)
		a.Until = &at
	case a.until != "":
		at, err := parseUntil(a.until)
		if err != nil {
			return err
		}
		a.Until = &at
	}
	return nil
}

// confirmed returns what a decision grants, nil if that was only shown.
func (s *session) confirmed(cmd *cobra.Command, uuid string, a always) (*client.Always, error) {
	p, err := s.PreviewAlways(cmd.Context(), uuid, a.AlwaysRequest)
	if err != nil {
		return nil, err
	}
	if a.confirm != "" {
		p.Always.Digest = a.confirm // the agent compares
		return &p.Always, nil
	}
	return nil, s.show(p, func(w io.Writer) {
		fmt.Fprintln(w, screen.Safe(p.Text))
		fmt.Fprintf(w, "\nNothing is decided yet. To approve the call and grant this:\n  agent approvals approve %s --always %s --until %s --uses %d", uuid, p.Always.Scope, p.Always.Until.Format(time.RFC3339), p.Always.Uses)
		for _, name := range p.Always.Open {
			fmt.Fprintf(w, " --open %q", name)
		}
		fmt.Fprintf(w, " --confirm %s%s\n", p.Always.Digest, s.flags.again())
	})
}
