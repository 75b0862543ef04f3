package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
)

// changeListing marks the first change of the memo in a run: a run that an earlier
// worker has carried on goes on without.
const changeListing = "listing"

// listingAccuracy is how far the last change in lists may be behind. A conversation
// that is quicker than that costs nothing.
const listingAccuracy = time.Minute

// updateListing brings the memo up to date by which lists show the conversation: the title of
// one that began without a message, and when it last changed. It adds a command to
// those that the workflow task gives anyway.
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

// setTitle names a conversation after its first message. What came with the start has
// been named by who started it.
func (c *conversation) setTitle(m contract.MessageSignal) {
	if c.state.Turn == 1 && c.in.First == nil {
		c.title = contract.Title(m)
	}
}
