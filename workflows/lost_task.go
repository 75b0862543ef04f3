package workflows

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/activity"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/run"
	"agent-stop-and-go/workflows/wording"
)

// changeLost marks histories in which a person is asked about a lost task: one that may have
// done something destructive and whose agent does not answer polls any more.
const changeLost = "ask-about-lost-tasks"

// pollFailure returns why a poll did not return the state of the task, or "".
func (t *remoteTask) pollFailure(out contract.DelegateResult, err error) string {
	switch {
	case err != nil:
		return activity.Failure(err).Message
	case out.NoEntry:
		return wording.TaskAuthRequired(t.call.Peer.Name)
	}
	return ""
}

// isLost reports whether a task is given up although its agent may have done something
// destructive and its end is unknown.
func (t *remoteTask) isLost(ctx workflow.Context, err error) bool {
	given := err != nil || t.last.State == contract.TaskAuthRequired || t.timeLeft(ctx) <= 0
	return given && t.pollProblem != "" && t.mayDestroy() && !t.unfollowed && ctx.Err() == nil &&
		workflow.GetVersion(ctx, changeLost, workflow.DefaultVersion, 1) == 1
}

// mayDestroy reports whether the agent may do something destructive.
func (t *remoteTask) mayDestroy() bool { return t.call.Peer.Destructive || t.answered != nil }

// restart asks a person about a lost task, and sends the message again if that person says so.
// ran is the result if that person says that the agent has done it.
func (t *remoteTask) restart(ctx workflow.Context) (ran *string, err error) {
	lost := temporal.NewNonRetryableApplicationError(t.pollProblem, string(contract.KindOutcomeUnknown), nil)
	t.pollProblem = ""
	resume := t.work.Pause(ctx)
	r := t.leaf.askOutcome(ctx, t.call, t.leaf.describeUnknown(ctx, t.call.Call, activity.Failure(lost).Message))
	resume()
	if ran, err := repeatDecision(ctx, lost, r); ran != nil || err != nil {
		return ran, err
	}
	t.last, t.answered, t.polls, t.work = contract.DelegateResult{}, nil, 0, run.Stopwatch{}
	t.work.Start(ctx)
	return t.start(ctx, r.UUID)
}
