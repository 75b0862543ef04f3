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

func newDeputies(getenv func(string) string) *cobra.Command {
	cmd := &cobra.Command{
		Use: "deputies", Short: "Have somebody decide in your place, until a date",
		Long: `Have somebody decide approvals in your place, until a date.
A deputy may decide what you may, and no more. Whoever started a conversation is nobody's deputy for
it, and where several people must approve, you and your deputy are one. The record of a decision names both.
`,
	}
	f := AddFlags(cmd, getenv)
	return family(cmd, newDeputiesList(f), newDeputiesAppoint(f), newDeputiesRevoke(f))
}

func newDeputiesList(f *Flags) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List who decides in whose place", Args: arguments(),
		RunE: f.session(func(s *session, cmd *cobra.Command, _ []string) error {
			list, err := s.Deputies(cmd.Context())
			if err != nil {
				return err
			}
			return s.show(map[string]any{"deputies": list}, func(w io.Writer) {
				if len(list) == 0 {
					fmt.Fprintln(w, "Nobody decides in the place of another.")
					return
				}
				rows := [][]string{{"ID", "WHO DECIDES", "IN THE PLACE OF", "UNTIL", "WHAT", "REASON"}}
				for _, d := range list {
					rows = append(rows, []string{d.ID, d.To.Subject, d.From.Subject, toTheMinute(d.Until), cmp.Or(d.Approval, "all"), d.Reason})
				}
				table(w, rows...)
			})
		}),
	}
}

func newDeputiesAppoint(f *Flags) *cobra.Command {
	var a client.Appointment
	var d time.Duration
	var until string
	cmd := &cobra.Command{
		Use: "appoint NAME", Short: "Let somebody decide in your place", Args: arguments("NAME"),
		Example: `  agent deputies appoint bob --for 1w --reason holidays
  agent deputies appoint bob --until 2026-08-31T18:00:00+02:00 --approval 7f9c24e8-3b12-4fef-91e0-5a1b2c3d4e5f
  agent deputies revoke 8a3c1f6e-0b7d-4e52-9c41-5d2e7f9a1b30`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if (d > 0) == (until != "") {
				return &UsageError{errors.New("give either --for, such as 3d, or --until")}
			}
			a.To.Subject, a.Until = args[0], time.Now().Add(d)
			if until != "" {
				var err error
				if a.Until, err = parseUntil(until); err != nil {
					return &UsageError{err}
				}
			}
			s, err := f.open(cmd)
			if err != nil {
				return err
			}
			got, err := s.Appoint(cmd.Context(), a)
			if err != nil {
				return err
			}
			return s.show(got, func(w io.Writer) {
				fmt.Fprintf(w, "%s decides in the place of %s until %s: %s\n", screen.Safe(got.To.Subject), screen.Safe(got.From.Subject), toTheMinute(got.Until), got.ID)
			})
		},
	}
	cmd.Flags().Var((*duration.Value)(&d), "for", "for how long, such as 8h, 3d or 2w")
	cmd.Flags().StringVar(&until, "until", "", "until when; a `time` such as 2026-08-31T18:00:00+02:00")
	cmd.Flags().StringVar(&a.To.Issuer, "issuer", "", "who vouches for NAME (default: who vouches for you)")
	cmd.Flags().StringVar(&a.Approval, "approval", "", "the `UUID` of the only approval that it is about (default: all)")
	cmd.Flags().StringVar(&a.Reason, "reason", "", "why; a `text` for the record")
	return cmd
}

func newDeputiesRevoke(f *Flags) *cobra.Command {
	return &cobra.Command{
		Use: "revoke ID", Short: "End a deputy before its time", Args: arguments("ID"),
		RunE: f.session(func(s *session, cmd *cobra.Command, args []string) error {
			if err := s.RevokeDeputy(cmd.Context(), args[0]); err != nil {
				return err
			}
			return s.show(map[string]string{"revoked": args[0]}, func(w io.Writer) { fmt.Fprintln(w, "It counts no more.") })
		}),
	}
}

// parseUntil reads the flag --until.
func parseUntil(text string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		err = fmt.Errorf("--until %s: expected a time such as 2026-08-31T18:00:00+02:00", text)
	}
	return at, err
}

func toTheMinute(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }
