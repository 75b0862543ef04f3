package workflows

import (
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
)

// Sequential runs its nodes in order. It ends early if one of them is rejected, requires the
// user to log in, or leaves the surrounding loop.
func Sequential(ctx workflow.Context, in contract.NodeInput) (contract.NodeResult, error) {
	return runComposite(ctx, in, func(c *composite, ctx workflow.Context) bool {
		for ; c.next < len(in.Node.Nodes); c.next++ {
			if c.mayRollOver(ctx) {
				return true
			}
			if c.step(ctx, c.next, c.id) {
				return false
			}
		}
		return false
	})
}

// step runs a node and merges its result. It returns true if no other node may follow.
func (c *composite) step(ctx workflow.Context, i int, parent string) (last bool) {
	if ctx.Err() != nil || c.timeIsUp(ctx) {
		return true
	}
	r := c.runNode(ctx, c.addNode(ctx, i, parent))
	c.collect()
	if r.Credential != "" {
		c.credential = r.Credential
	}
	return c.sum.AddStep(r)
}
