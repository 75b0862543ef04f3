package workflows

import (
	"slices"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/activity"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/decide"
	"agent-stop-and-go/workflows/run"
	"agent-stop-and-go/workflows/wording"
)

// Parallel runs its nodes side by side and ends when all have ended. Each sees the session
// state of the start; the values they set are merged in declared order. With FailFast the first
// failure stops the others.
func Parallel(ctx workflow.Context, in contract.NodeInput) (contract.NodeResult, error) {
	return runComposite(ctx, in, func(c *composite, ctx workflow.Context) bool {
		results := c.runBranches(ctx)
		c.collect()
		c.sum.AddBranches(in.Node.FailFast, results)
		if ctx.Err() == nil {
			c.sum.Output = c.join(ctx, c.sum.Outputs)
		}
		return false
	})
}

func (c *composite) runBranches(ctx workflow.Context) []contract.NodeResult {
	ctx, cancel := workflow.WithCancel(ctx)
	nodes := c.in.Node.Nodes
	started := make([]*startedNode, len(nodes))
	for i := range nodes {
		started[i] = c.addNode(ctx, i, c.id)
	}
	results := make([]contract.NodeResult, len(nodes))
	group := workflow.NewWaitGroup(ctx)
	for i, b := range started {
		group.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer group.Done()
			results[i] = c.runNode(ctx, b)
			if results[i].Outcome == contract.OutcomeFailed && c.in.Node.FailFast {
				cancel()
			}
		})
	}
	group.Wait(ctx)
	return results
}

// join concatenates the outputs of the branches, one per line.
func (c *composite) join(ctx workflow.Context, parts []contract.Text) contract.Text {
	if text, ok := decide.JoinInline(parts); ok {
		return text
	}
	ctx = run.Detached(ctx)
	out, err := activity.RunLocal(ctx, contract.ActivityCompose, activity.LocalOptions(composeTimeout, wording.OutputsSummary(c.in.Node.Name)),
		contract.ComposeInput{Parts: parts})
	if err != nil {
		workflow.GetLogger(ctx).Error("join the outputs", "node", c.in.Node.Name, "error", err)
		return slices.MaxFunc(parts, func(a, b contract.Text) int { return len(a.Short()) - len(b.Short()) })
	}
	return out.Text
}
