package workflows

import (
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/decide"
	"agent-stop-and-go/workflows/wording"
)

// withinLimits asks a person whether to go on for every limit that is reached.
// over means that the node ends with the result.
func (l *leaf) withinLimits(ctx workflow.Context) (result contract.NodeResult, over bool) {
	for {
		reached, ok := decide.LimitReached(l.about().agent.Limits, l.spending(ctx))
		if !ok {
			return contract.NodeResult{}, false
		}
		r := l.ask(ctx, call{Call: reached.Call()}, reached.Describe(l.nameInTree()), contract.ReasonLimit)
		switch {
		case ctx.Err() != nil:
			return l.interrupted(), true
		case r.Decision != contract.Approved:
			return ended(contract.OutcomeRejected, wording.AfterLimit(reached, recordedReason(ctx, r))), true
		}
		l.granted = l.granted.Add(decide.Grant(reached))
	}
}

// spending is what was spent and granted in all.
func (l *leaf) spending(ctx workflow.Context) contract.Spent {
	return decide.Spend(l.spent(ctx, l), contract.NodeResult{
		Usage: l.state.Usage, Worked: l.clock.elapsed(ctx), Granted: l.granted,
	})
}
