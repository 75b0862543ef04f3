package control

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract/audit"
	"agent-stop-and-go/workflows/contract/switches"
	"agent-stop-and-go/workflows/ledger"
)

// changeAudit marks histories in which the audit log gets the switches, and changeLimits those in
// which it gets the limits.
const (
	changeAudit  = "switches-in-the-audit"
	changeLimits = "limits-in-the-audit"
)

// record tells the audit log of a switch.
func (c *control) record(ctx workflow.Context, log string, given switches.Change) {
	if workflow.GetVersion(ctx, changeAudit, workflow.DefaultVersion, 1) < 1 {
		return
	}
	at := workflow.Now(ctx).UTC()
	what := "paused: "
	if log == switches.LogResumed {
		what = "resumed: "
	}
	ledger.Tell(ctx, audit.Leaf{
		ID: fmt.Sprintf("switch/%s%s/%d", what, given.What, at.UnixNano()), Kind: audit.KindSwitch, At: at, What: what + string(given.What),
		Actor: audit.ActorOf(given.Identity, given.Identity.Channel),
	})
}

// recordLimit tells the audit log of a limit that was changed.
func (c *control) recordLimit(ctx workflow.Context, given switches.LimitChange) {
	if workflow.GetVersion(ctx, changeLimits, workflow.DefaultVersion, 1) < 1 {
		return
	}
	ledger.Tell(ctx, audit.Leaf{
		ID: fmt.Sprintf("limit/%s/%s/%d", given.Agent, given.Limit, given.Since.UnixNano()), Kind: audit.KindLimit, At: given.Since,
		Agent: given.Agent, What: given.Limit, Version: given.Setting(), Actor: audit.ActorOf(given.Identity, given.Identity.Channel),
	})
}
