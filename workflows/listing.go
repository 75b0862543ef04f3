package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/title"
)

// changeListing marks the first change of the memo in a run: a run that an older worker has
// continued has none.
const changeListing = "listing"

// listingAccuracy is how far the time of the last change in lists may lag behind. A
// conversation that completes within it causes no memo update.
const listingAccuracy = time.Minute

// updateListing updates the memo that lists show: the title of a conversation that began
// without a message, and the time of its last change. It adds a command to the current workflow
// task.
func (c *conversation) updateListing(ctx workflow.Context) {
	late := c.state.UpdatedAt.Sub(c.listedAt) >= listingAccuracy
	if c.closing != nil || !late && c.title == "" ||
		workflow.GetVersion(ctx, changeListing, workflow.DefaultVersion, 1) == workflow.DefaultVersion {
		return
	}
	memo := map[string]any{contract.MemoUpdatedAt: c.state.UpdatedAt.Format(time.RFC3339Nano)}
	if c.title != "" {
		memo[contract.MemoTitle] = c.title
	}
	if err := workflow.UpsertMemo(ctx, memo); err != nil {
		workflow.GetLogger(ctx).Error("upsert the memo", "error", err)
	}
	c.listedAt, c.title = c.state.UpdatedAt, ""
}

// setTitle names a conversation after its first message. One that was started with a message
// has its title from the caller.
func (c *conversation) setTitle(m contract.MessageSignal) {
	if c.state.Turn == 1 && c.in.First == nil {
		c.title = title.Of(m)
	}
}
