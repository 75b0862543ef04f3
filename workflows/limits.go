package workflows

import (
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/decide"
	"agent-stop-and-go/workflows/doubt"
	"agent-stop-and-go/workflows/wording"
)

// withinLimits asks a person whether to continue for every limit that is reached. If over is
// true the node ends with the result.
func (l *leaf) withinLimits(ctx workflow.Context) (result contract.NodeResult, over bool) {
	for {
		reached, ok := decide.LimitReached(l.parent.origin().agent.Limits, l.totalConsumption(ctx))
		if !ok {
			return contract.NodeResult{}, false
		}
		r := l.ask(ctx, call{Call: reached.Call()}, reached.Describe(l.nameInTree()), contract.ReasonLimit)
		switch {
		case ctx.Err() != nil:
			return l.interruptedResult(), true
		case r.Decision != contract.Approved:
			return endedWith(contract.OutcomeRejected, wording.AfterLimit(reached, doubt.Recorded(ctx, r))), true
		}
		l.granted = l.granted.Add(decide.Grant(reached))
	}
}

// totalConsumption returns the consumption of all nodes.
func (l *leaf) totalConsumption(ctx workflow.Context) contract.Consumption {
	return decide.AddResult(l.parent.consumption(ctx, l), contract.NodeResult{
		Usage: l.state.Usage, Worked: l.clock.Elapsed(ctx), Granted: l.granted,
	})
}
