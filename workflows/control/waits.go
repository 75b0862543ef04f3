package control

import (
	"slices"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/switches"
)

// releaseBatch is how many approvals are signalled at a time. The server limits the signals
// that a workflow waits for.
const releaseBatch = 100

// add registers a call that waits.
func (c *control) add(w switches.Wait) {
	c.waits = slices.DeleteFunc(c.waits, func(old switches.Wait) bool { return old.Approval == w.Approval })
	if len(c.waits) >= switches.MaxWaits {
		c.waits = slices.Delete(c.waits, 0, 1)
	}
	c.waits = append(c.waits, w)
	c.mayRelease = true
}

func (c *control) isFree(w switches.Wait) bool {
	_, held := c.state.Holding(w.Call)
	return !held
}

// release wakes the oldest waits that no switch holds. An approval that has ended meanwhile is
// forgotten.
func (c *control) release(ctx workflow.Context) {
	var sent []workflow.Future
	c.waits = slices.DeleteFunc(c.waits, func(w switches.Wait) bool {
		if len(sent) == releaseBatch || !c.isFree(w) {
			return false
		}
		sent = append(sent, workflow.SignalExternalWorkflow(ctx, contract.ApprovalWorkflowID(w.Approval), "", switches.SignalGo, c.resumed))
		return true
	})
	c.mayRelease = len(sent) == releaseBatch
	for _, f := range sent {
		if err := f.Get(ctx, nil); err != nil {
			workflow.GetLogger(ctx).Debug("an approval has ended before it was released", "error", err)
		}
	}
}
