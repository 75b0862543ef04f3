package control

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract/audit"
	"agent-stop-and-go/workflows/contract/switches"
)

// changeAudit marks histories in which the audit log gets the changes.
const changeAudit = "switches-in-the-audit"

// record tells the audit log of a change, if there is one: a namespace without has no Audit, and
// the signal reaches nobody.
func (c *control) record(ctx workflow.Context, log string, given switches.Change) {
	if workflow.GetVersion(ctx, changeAudit, workflow.DefaultVersion, 1) < 1 {
		return
	}
	at := workflow.Now(ctx).UTC()
	what := "paused: "
	if log == switches.LogResumed {
		what = "resumed: "
	}
	l := audit.Leaf{
		ID: fmt.Sprintf("switch/%s%s/%d", what, given.What, at.UnixNano()), Kind: audit.KindSwitch, At: at, What: what + string(given.What),
		Actor: audit.ActorOf(given.Identity, given.Identity.Channel),
	}
	sent := workflow.SignalExternalWorkflow(ctx, audit.WorkflowID, "", audit.SignalAppend, []audit.Leaf{l})
	workflow.Go(ctx, func(ctx workflow.Context) {
		if err := sent.Get(ctx, nil); err != nil {
			workflow.GetLogger(ctx).Debug("no audit log has the change", "error", err)
		}
	})
}
