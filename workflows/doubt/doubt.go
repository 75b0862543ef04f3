// Package doubt reports whether a call that has failed may have been carried out and may be repeated, and
// returns what the record has of a person's decision about it. Each function reports for older histories what
// held when they began; the marks of those are here too.
package doubt

import (
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/decide"
	"agent-stop-and-go/workflows/wording"
)

// changeAnswers marks histories in which people may answer that a call of unknown outcome did
// run, and are asked again about an approval that another agent did not receive.
const changeAnswers = "answers-to-unknown-outcomes"

// TakesAnswers reports whether people may answer that a call did run.
func TakesAnswers(ctx workflow.Context) bool {
	return workflow.GetVersion(ctx, changeAnswers, workflow.DefaultVersion, 1) == 1
}

// HasRun reports whether a person has answered that a call of unknown outcome did run.
func HasRun(r contract.ApprovalResult) bool {
	return r.Decision == contract.Approved && r.Outcome == contract.OutcomeRan
}

// changeDoubt marks histories in which destructive calls with a failure that no activity has
// explained are submitted to a person too.
const changeDoubt = "ask-after-unexplained-failures"

// MayHaveRun reports whether a failed call may have been carried out.
func MayHaveRun(ctx workflow.Context, c contract.Call, f wording.Failure) bool {
	return decide.OutcomeUnknown(c, f) || c.Destructive && decide.Unexplained(f) &&
		workflow.GetVersion(ctx, changeDoubt, workflow.DefaultVersion, 1) == 1
}

// changeRepeat marks histories in which calls that did not reach their server are repeated.
const changeRepeat = "repeat-calls-not-reached"

// MayRepeat reports whether a destructive call was certainly not carried out.
func MayRepeat(ctx workflow.Context, c contract.Call, f wording.Failure) bool {
	return decide.NotReached(c, f) && ctx.Err() == nil &&
		workflow.GetVersion(ctx, changeRepeat, workflow.DefaultVersion, 1) == 1
}

// changeReason marks histories in which the reply to a rejection has the reason. Its length may
// determine when messages are offloaded.
const changeReason = "reason-of-rejection"

// Recorded returns a decision, without the reason of a rejection for histories that do not have it
// in the reply.
func Recorded(ctx workflow.Context, r contract.ApprovalResult) contract.ApprovalResult {
	if r.Decision == contract.Rejected && r.Reason != "" && workflow.GetVersion(ctx, changeReason, workflow.DefaultVersion, 1) < 1 {
		r.Reason = ""
	}
	return r
}
