package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"agent-stop-and-go/workflows/contract/duration"
)

// newLater returns the command that puts an approval off.
func newLater(f *Flags) *cobra.Command {
	d := 2 * time.Hour
	cmd := &cobra.Command{
		Use:   "later UUID",
		Short: "Put an approval off: not now, and not a no",
		Long: `Put an approval off for yourself. Lists then say until when, and the page keeps it out of sight.
It still waits for everybody, can be decided at any time, and expires when it would.
`,
		Example: `  agent approvals later 7f9c24e8-3b12-4fef-91e0-5a1b2c3d4e5f --for 2h
  agent approvals later 7f9c24e8-3b12-4fef-91e0-5a1b2c3d4e5f --for 0s`,
		Args:              arguments("UUID"),
		ValidArgsFunction: completeFrom(f, approvalIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			if d < 0 {
				return &UsageError{fmt.Errorf("--for %s: expected a time of 0 or more", d)}
			}
			s, err := f.open(cmd)
			if err != nil {
				return err
			}
			got, err := s.Later(cmd.Context(), args[0], d)
			if err != nil {
				return err
			}
			return s.show(got, func(w io.Writer) {
				if got.DeferredUntil == nil {
					fmt.Fprintln(w, "It is not put off.")
					return
				}
				fmt.Fprintf(w, "It is put off %s. It still waits, and expires when it would.\n", putOff(got.DeferredUntil))
			})
		},
	}
	cmd.Flags().Var((*duration.Value)(&d), "for", "for how long; 0s has it back at once")
	return cmd
}

// putOff returns until when an approval is put off, in words, or "".
func putOff(until *time.Time) string {
	if until == nil {
		return ""
	}
	return "until " + until.Local().Format("2006-01-02 15:04")
}
