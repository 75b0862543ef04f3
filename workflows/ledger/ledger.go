// Package ledger tells the audit log what a workflow does. The workflow Audit appends it (package
// appender).
package ledger

import (
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract/audit"
)

// Tell sends leaves to the audit log, if there is one, and does not wait: a namespace without has no
// Audit, and the signal reaches nobody.
func Tell(ctx workflow.Context, leaves ...audit.Leaf) {
	sent := workflow.SignalExternalWorkflow(ctx, audit.WorkflowID, "", audit.SignalAppend, leaves)
	workflow.Go(ctx, func(ctx workflow.Context) {
		if err := sent.Get(ctx, nil); err != nil {
			workflow.GetLogger(ctx).Debug("no audit log has the change", "error", err)
		}
	})
}
