package workflows

import (
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

// awaitResume waits until no switch pauses a call, or somebody rejects it. Nobody can approve
// it, and it does not expire.
func (l *leaf) awaitResume(ctx workflow.Context, c call, f wording.Failure) contract.ApprovalResult {
	in := l.approvalFor(ctx, c, wording.DescribePaused(c.Name, l.describe(ctx, c.Call), f.Message), contract.ReasonPaused)
	in.Timeout = 0
	in.Audited = in.Audited || f.Unrecorded // else nothing would wait for the log
	if c.Peer != nil {
		in.RemoteAgent = c.Peer.Name
	}
	return *l.runApproval(ctx, &in, nil)
}
