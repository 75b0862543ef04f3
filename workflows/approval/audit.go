package approval

import (
	"math"
	"time"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/activity"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/audit"
	"agent-stop-and-go/workflows/run"
)

const recordTimeout = 15 * time.Second

// recordOptions retry until the log can be written. The Web UI shows why it cannot.
func recordOptions(summary string) workflow.ActivityOptions {
	o := activity.Options(recordTimeout, math.MaxInt32, summary)
	o.HeartbeatTimeout = 0
	return o
}

// record is what the audit log gets of the approval.
func (a *approval) record() audit.Record {
	in := a.in
	in.Carried, in.Schema, in.Explanation, in.Login, in.Basis, in.Waits = nil, contract.JSON{}, contract.Text{}, nil, contract.JSON{}, nil
	return audit.Record{Approval: in, Recorded: a.recorded}
}

// recordOpened says that the approval opens while the person thinks, so that the call behind it
// finds its proposal in the log.
func (a *approval) recordOpened(ctx workflow.Context) {
	_, err := activity.Run(ctx, audit.ActivityRecord, recordOptions("audit: what is shown"), a.record())
	a.recorded = err == nil
}

// recordDecision says how the approval has ended. The Audit has it when this returns; if the
// worker cannot say it at once, an activity does.
func (a *approval) recordDecision(ctx workflow.Context) {
	if !a.in.Audited {
		return
	}
	ctx = run.Detached(ctx)
	result, in := a.view.Result.Public(), a.record()
	in.Result = &result
	o := activity.LocalOptions(recordTimeout/3, "audit: the decision")
	o.ScheduleToCloseTimeout = recordTimeout / 3
	if _, err := activity.RunLocal(ctx, audit.ActivityRecord, o, in); err != nil {
		_, err = activity.Run(ctx, audit.ActivityRecord, recordOptions("audit: the decision"), in)
		if err != nil {
			workflow.GetLogger(ctx).Error("a decision is not in the audit log", "uuid", a.in.UUID, "error", err)
		}
	}
}
