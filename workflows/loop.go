package workflows

import (
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
)

// Loop runs its nodes in order, repeatedly: until one of them leaves the loop or would end a
// sequence, or the iterations are used up.
func Loop(ctx workflow.Context, in contract.NodeInput) (contract.NodeResult, error) {
	return runComposite(ctx, in, func(c *composite, ctx workflow.Context) bool {
		for ; c.next < in.Node.Iterations(); c.next++ {
			if c.mayRollOver(ctx) {
				return true
			}
			if c.iterate(ctx) {
				break
			}
		}
		c.sum.LeaveLoop()
		return false
	})
}

// iterate runs every node once. It returns true if the loop ends.
func (c *composite) iterate(ctx workflow.Context) (last bool) {
	c.state.Iteration = c.next + 1
	c.state.Nodes, c.state.Offloaded = nil, nil
	c.openStates()
	parent := contract.IterationWorkflowID(c.id, c.state.Iteration)
	for i := range c.in.Node.Nodes {
		if c.step(ctx, i, parent) {
			return true
		}
	}
	return false
}
