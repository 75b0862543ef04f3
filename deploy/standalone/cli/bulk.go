package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/spf13/cobra"

	"agent-stop-and-go/gateway/client"
)

// several accepts one UUID or more.
func several(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return errors.New("the argument UUID is missing")
	}
	return nil
}

// decideAll decides several approvals, prints what became of each, and fails unless all decisions
// count.
func (s *session) decideAll(ctx context.Context, uuids []string, a client.Answer) error {
	var decisions []client.BulkDecision
	for _, uuid := range uuids {
		decisions = append(decisions, client.BulkDecision{UUID: uuid, Approved: *a.Approved, Reason: a.Reason, By: a.By})
	}
	all, err := s.DecideAll(ctx, decisions)
	if err != nil {
		return err
	}
	failed := 0
	err = s.show(all, func(w io.Writer) {
		rows := [][]string{{"UUID", "RESULT"}}
		for _, r := range all.Results {
			switch {
			case r.Error != "":
				rows = append(rows, []string{r.UUID, r.Error})
			case r.Decision != nil:
				rows = append(rows, []string{r.UUID, r.Decision.Decision})
			default:
				rows = append(rows, []string{r.UUID, "sent"})
			}
		}
		table(w, rows...)
	})
	for _, r := range all.Results {
		if r.Status != http.StatusOK && r.Status != http.StatusAccepted {
			failed++
		}
	}
	if err == nil && failed > 0 {
		err = fmt.Errorf("%d of %d decisions do not count", failed, len(uuids))
	}
	return err
}
