package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

// changeReset marks the first points of a run behind the one that an operator has reset it
// to. Of the points that its history has from the run before none is marked.
const changeReset = "after-reset"

// withdrawTimeout bounds how long a turn waits until what was left is ended.
const withdrawTimeout = 15 * time.Second

// aftermath knows whether a workflow's run that came of a reset is past what it has from
// the run before. What that one has started since, and this one has not, goes on: the
// server ends it only with a run that is over, and what was started before the reset it
// hands over.
type aftermath struct{ reached, over bool }

// wasReset reports whether the run came of a reset.
func wasReset(ctx workflow.Context) bool {
	info := workflow.GetInfo(ctx)
	return info.OriginalRunID != "" && info.OriginalRunID != info.WorkflowExecution.RunID
}

// versionAfter is the version that a conversation has after another one. Files, readers and
// webhooks keep the highest, and the run before a reset may have come further than the
// point that the present one began at: its versions are times, which come after those.
func versionAfter(ctx workflow.Context, version int64) int64 {
	if !wasReset(ctx) {
		return version + 1
	}
	return max(version+1, now(ctx).UnixMilli())
}

// reach reports whether the run is past a reset, at a point that it does not come by
// twice. The first time it ends what the run before has left: approvals that nobody
// waits for, and nodes that would go on making calls. Nothing else starts meanwhile.
func (a *aftermath) reach(ctx workflow.Context, point, conversation string) bool {
	switch {
	case !wasReset(ctx):
		return false
	case a.reached:
		_ = workflow.Await(ctx, func() bool { return a.over }) // else the caller is cancelled
		return true
	}
	info := workflow.GetInfo(ctx)
	change := changeReset + " " + contract.NameUUID(info.WorkflowExecution.ID, point)
	if workflow.GetVersion(ctx, change, workflow.DefaultVersion, 1) < 1 {
		return false
	}
	a.reached = true
	defer func() { a.over = true }()
	o := regular(withdrawTimeout, attempts, wording.SummaryResetRest)
	o.ScheduleToCloseTimeout = withdrawTimeout
	out, err := run(ctx, contract.ActivityWithdraw, o, contract.WithdrawInput{ConversationID: conversation})
	if err != nil {
		workflow.GetLogger(ctx).Error("end what the run before the reset has left", "error", err)
	} else {
		workflow.GetLogger(ctx).Info("the run was reset", "ended", out.Workflows)
	}
	return true
}

// changeAdopted marks the ends of contexts at which a child is cancelled by an activity.
const changeAdopted = "cancel-after-reset"

// adopt has a child be cancelled with ctx also where the run before a reset has started it:
// the server lets a run cancel only the children that it has started itself.
func (a *aftermath) adopt(ctx workflow.Context, id, conversation string, child workflow.Future) {
	if a.reached || !wasReset(ctx) {
		return
	}
	workflow.Go(detached(ctx), func(always workflow.Context) {
		_ = workflow.Await(always, func() bool { return ctx.Err() != nil || child.IsReady() }) // always is never cancelled
		change := changeAdopted + " " + contract.NameUUID(workflow.GetInfo(always).WorkflowExecution.ID, id)
		if child.IsReady() || workflow.GetVersion(always, change, workflow.DefaultVersion, 1) < 1 {
			return
		}
		o := regular(withdrawTimeout, attempts, wording.SummaryResetChild)
		if _, err := run(always, contract.ActivityWithdraw, o, contract.WithdrawInput{ConversationID: conversation, Child: id}); err != nil {
			workflow.GetLogger(always).Error("cancel what the run before the reset has started", "error", err)
		}
	})
}

// nodeID is the workflow ID of a node: another one after a reset, because the node that
// the run before has started may still run. key is the ID that it would have had, for the
// idempotency keys of what it does, which stay the same.
func (a *aftermath) nodeID(ctx workflow.Context, id, key, conversation string) (string, string) {
	if a.reach(ctx, id, conversation) {
		id += "~r" + workflow.GetInfo(ctx).WorkflowExecution.RunID[:8]
	}
	if id == key {
		key = ""
	}
	return id, key
}
