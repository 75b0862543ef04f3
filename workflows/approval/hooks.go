package approval

import (
	"go.temporal.io/sdk/workflow"

	wire "agent-stop-and-go/workflows/contract/hooks"
	"agent-stop-and-go/workflows/hooks"
	"agent-stop-and-go/workflows/run"
)

// tell has the web hooks of the agent told an event, if it has any. Nothing waits for them.
func (a *approval) tell(ctx workflow.Context, e wire.Event, number int) {
	if a.in.Webhooks {
		a.told = append(a.told, hooks.Tell(ctx, a.in, e, number, a.view.Result))
	}
}

// awaitTold waits until the server has started what tells web hooks: a workflow that ends before
// would take it along. It is done by the time of a decision, except for the decision itself.
func (a *approval) awaitTold(ctx workflow.Context) {
	for _, started := range a.told {
		if err := started.Get(run.Detached(ctx), nil); err != nil { // a run before a reset has told it
			workflow.GetLogger(ctx).Debug("an event is not told again", "error", err)
		}
	}
}
