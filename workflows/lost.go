package workflows

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

// changeLost marks histories in which a human is asked what came of a task that may have done
// something destructive, and of which its agent tells nothing any more.
const changeLost = "ask-about-lost-tasks"

// silence is why a look told nothing of the task; "" if it did.
func (t *remoteTask) silence(out contract.DelegateResult, err error) string {
	switch {
	case err != nil:
		return failure(err).Message
	case out.NoEntry:
		return wording.TaskAuthRequired(t.call.Peer.Name)
	}
	return ""
}

// isLost reports whether a task is not followed any more though its agent may have done
// something destructive, and the last that was heard of it was not its end.
func (t *remoteTask) isLost(ctx workflow.Context, err error) bool {
	given := err != nil || t.known.State == contract.TaskAuthRequired || t.left(ctx) <= 0
	return given && t.silent != "" && t.mayDestroy() && !t.early && ctx.Err() == nil &&
		workflow.GetVersion(ctx, changeLost, workflow.DefaultVersion, 1) == 1
}

// mayDestroy reports whether a person has approved what the agent does.
func (t *remoteTask) mayDestroy() bool { return t.call.Peer.Destructive || t.approved }

// beginAnew asks a human about a task that is lost, and sends the message again if that person
// says so. ran is the result when the agent has done it, as the person says.
func (t *remoteTask) beginAnew(ctx workflow.Context) (ran *string, err error) {
	lost := temporal.NewNonRetryableApplicationError(t.silent, string(contract.KindOutcomeUnknown), nil)
	t.silent = ""
	resume := t.work.pause(ctx)
	r := t.askAbout(ctx, t.call, t.describeUnknown(ctx, t.call.Call, failure(lost).Message))
	resume()
	if ran, err := settled(ctx, lost, r); ran != nil || err != nil {
		return ran, err
	}
	t.known, t.approved, t.looked, t.work = contract.DelegateResult{}, false, 0, stopwatch{}
	t.work.start(ctx)
	return t.begin(ctx, r.UUID)
}
