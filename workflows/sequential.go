package workflows

import (
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
)

// Sequential runs its nodes one after the other. It ends early when one of them
// is rejected, wants the user to log in, or leaves the loop around.
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

// step runs a node and takes its result into account. It returns true when no
// other may follow.
func (c *composite) step(ctx workflow.Context, i int, parent string) (last bool) {
	if ctx.Err() != nil || c.timeIsUp(ctx) {
		return true
	}
	r := c.work(ctx, c.begin(ctx, i, parent))
	c.collect()
	if r.Credential != "" {
		c.credential = r.Credential
	}
	return c.sum.Then(r)
}
