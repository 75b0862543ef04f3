package doctor

import (
	"context"
	"fmt"
	"time"

	"agent-stop-and-go/config"
	"agent-stop-and-go/workflows/contract/audit"
)

// checkAudit asks the running agent whether its audit log is written, and how far each witness is behind.
func (x *examination) checkAudit(ctx context.Context, c *config.Config) {
	if c.Audit == nil {
		return
	}
	v, err := x.Audit(ctx, c)
	if err != nil {
		x.note("audit log", "it cannot be asked: "+err.Error(), "run this command where the agent runs, with its environment; agent audit verify --offline reads the files")
		return
	}
	if v.Problem != "" {
		x.problem("audit log", fmt.Sprintf("it cannot be written since %s: %s", since(v.Since), v.Problem), fmt.Sprintf("destructive calls wait until it can be, and so do %d events: mend its store or its witnesses", v.Queued))
	} else {
		x.ok("audit log", fmt.Sprintf("it has %d events", v.Head.Size))
	}
	if v.Head.Witness != "" {
		x.problem("witness "+c.Audit.Witness, "it has not signed the last of them: "+v.Head.Witness, "mend the folder, or name another in audit.witness")
	}
	for _, name := range c.Audit.WitnessNames() {
		x.reportWitness(v.Lag(name), c.Audit.Required)
	}
}

func (x *examination) reportWitness(l audit.Lag, required int) {
	part := "witness " + l.Name
	switch {
	case l.Problem == "" && l.Leaves == 0:
		x.ok(part, fmt.Sprintf("it has signed all %d events", l.Signed))
	case l.Problem == "":
		x.ok(part, fmt.Sprintf("it has signed %d events, and is to sign %d more", l.Signed, l.Leaves))
	default:
		advice := "start it, or correct its url or key in audit.witnesses; it is asked again within five minutes"
		if required > 0 {
			advice += fmt.Sprintf(". Destructive calls need the signatures of %d of the witnesses", required)
		}
		x.problem(part, fmt.Sprintf("it has signed %d events and not %d more, since %s: %s", l.Signed, l.Leaves, since(l.Since), l.Problem), advice)
	}
}

// since says when something began, and how long ago.
func since(t time.Time) string {
	if t.IsZero() {
		return "an unknown time"
	}
	return fmt.Sprintf("%s (for %s)", t.UTC().Format("2006-01-02 15:04 UTC"), time.Since(t).Round(time.Second))
}
