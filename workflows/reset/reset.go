package reset

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/activity"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/run"
	"agent-stop-and-go/workflows/wording"
)

// changeReset marks the first points of a run after the point that an operator has reset it to.
// Points in the history taken from the previous run are not marked. From version 2 on the
// history also says which run a marked point belongs to: a run that was reset may be reset again,
// and then has points of several runs in its history.
const changeReset = "after-reset"

// sideEffectRun records the run that a point after a reset belongs to.
const sideEffectRun = "run-after-reset"

// withdrawTimeout limits how long a turn waits for the end of workflows that the previous run
// left.
const withdrawTimeout = 15 * time.Second

// Cleanup ends the workflows that the run before a reset has left. Workflows that the previous
// run started after the reset point keep running, because the server ends only the
// children of closed runs and hands over those started before the point.
type Cleanup struct {
	version workflow.Version // of changeReset; 0 before the first point
	run     string           // the run that the last point belongs to
	ending  int              // how many cleanups are under way
}

// wasReset reports whether the run was created by a reset.
func wasReset(ctx workflow.Context) bool {
	info := workflow.GetInfo(ctx)
	return info.OriginalRunID != "" && info.OriginalRunID != info.WorkflowExecution.RunID
}

// NextVersion returns the version of a conversation after the given one. Files, readers and
// webhooks keep the highest version, and the run before a reset may have gone further than the
// reset point. Versions after a reset are therefore times in milliseconds, which are higher.
func NextVersion(ctx workflow.Context, version int64) int64 {
	if !wasReset(ctx) {
		return version + 1
	}
	return max(version+1, run.Now(ctx).UnixMilli())
}

// Pass passes a point that occurs once, and returns the run that it belongs to if that run is the
// result of a reset, else "". At the first point of such a run it ends the workflows that the
// previous run has left: approvals whose decision would not be used, and nodes that would
// continue to make calls. Nothing else starts meanwhile.
func (a *Cleanup) Pass(ctx workflow.Context, point, conversation string) string {
	if !wasReset(ctx) || !a.marked(ctx, point) {
		return ""
	}
	if at := a.runOf(ctx); at != a.run {
		a.run = at
		a.ending++
		endLeftovers(ctx, conversation)
		a.ending--
	}
	_ = workflow.Await(ctx, func() bool { return a.ending == 0 }) // else the caller is cancelled
	return a.run
}

// marked reports whether a point is after a reset.
func (a *Cleanup) marked(ctx workflow.Context, point string) bool {
	if a.version == 0 {
		change := changeReset + " " + contract.NameUUID(workflow.GetInfo(ctx).WorkflowExecution.ID, point)
		a.version = max(0, workflow.GetVersion(ctx, change, workflow.DefaultVersion, 2))
	}
	return a.version > 0
}

// runOf returns the run that the present point belongs to.
func (a *Cleanup) runOf(ctx workflow.Context) (id string) {
	own := workflow.GetInfo(ctx).WorkflowExecution.RunID
	if a.version < 2 {
		return own
	}
	recorded := workflow.MutableSideEffect(ctx, sideEffectRun, func(workflow.Context) any { return own }, func(x, y any) bool { return x == y })
	if err := recorded.Get(&id); err != nil {
		panic(err) // it is a string
	}
	return id
}

// endLeftovers ends what the run before a reset has left.
func endLeftovers(ctx workflow.Context, conversation string) {
	o := activity.Options(withdrawTimeout, activity.Attempts, wording.SummaryResetRest)
	o.ScheduleToCloseTimeout = withdrawTimeout
	out, err := activity.Run(ctx, contract.ActivityWithdraw, o, contract.WithdrawInput{ConversationID: conversation})
	if err != nil {
		workflow.GetLogger(ctx).Error("end what the run before the reset has left", "error", err)
	} else {
		workflow.GetLogger(ctx).Info("the run was reset", "ended", out.Workflows)
	}
}

// changeAdopted marks the points at which an activity cancels a child.
const changeAdopted = "cancel-after-reset"

// CancelWithContext cancels a child with ctx even if the run before a reset has started it: the
// server lets a run cancel only children that it has started itself.
func (a *Cleanup) CancelWithContext(ctx workflow.Context, id, conversation string, child workflow.Future) {
	if !wasReset(ctx) || a.run == workflow.GetInfo(ctx).WorkflowExecution.RunID {
		return
	}
	always, _ := workflow.NewDisconnectedContext(ctx)
	workflow.Go(always, func(always workflow.Context) {
		_ = workflow.Await(always, func() bool { return ctx.Err() != nil || child.IsReady() }) // always is never cancelled
		change := changeAdopted + " " + contract.NameUUID(workflow.GetInfo(always).WorkflowExecution.ID, id)
		if child.IsReady() || workflow.GetVersion(always, change, workflow.DefaultVersion, 1) < 1 {
			return
		}
		o := activity.Options(withdrawTimeout, activity.Attempts, wording.SummaryResetChild)
		if _, err := activity.Run(always, contract.ActivityWithdraw, o, contract.WithdrawInput{ConversationID: conversation, Child: id}); err != nil {
			workflow.GetLogger(always).Error("cancel what the run before the reset has started", "error", err)
		}
	})
}

// NodeID returns the workflow ID of a node: a different one after a reset, because the node
// that the previous run has started may still run. key is the ID that it would have had; the
// idempotency keys of the node are derived from it and so stay the same.
func (a *Cleanup) NodeID(ctx workflow.Context, id, key, conversation string) (string, string) {
	if at := a.Pass(ctx, id, conversation); at != "" {
		id += "~r" + at[:8]
	}
	if id == key {
		key = ""
	}
	return id, key
}
