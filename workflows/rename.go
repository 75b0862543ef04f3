package workflows

import (
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/title"
	"agent-stop-and-go/workflows/run"
	"agent-stop-and-go/workflows/signal"
	"agent-stop-and-go/workflows/wording"
)

// changeRename marks the first title in a run. Older workers ignored the signal.
const changeRename = "rename"

func (c *conversation) receiveRenames(ctx workflow.Context) {
	for raw, ok := signal.Receive(c.renames); ok; raw, ok = signal.Receive(c.renames) {
		s := signal.Optional[title.Rename](raw)
		if workflow.GetVersion(ctx, changeRename, workflow.DefaultVersion, 1) >= 1 && c.takeSender(ctx, title.SignalRename, raw, s.RequestID, &s.Identity, &s.Proof) {
			c.rename(ctx, s)
		}
	}
}

func (c *conversation) rename(ctx workflow.Context, s title.Rename) {
	id := c.addRequest(s.RequestID, s.Fingerprint)
	switch no := c.titleRefusal(s.Title); {
	case id == "":
	case no != nil:
		c.refuse(ctx, id, *no)
	default:
		c.state.UpdatedAt = run.Now(ctx)
		c.state.Title = &contract.Title{Text: s.Title, By: s.By, OnBehalfOf: s.OnBehalfOf, Identity: s.Identity, At: c.state.UpdatedAt}
		c.listing.Rename(s.Title)
		c.settle(ctx, []string{id}, contract.Result{Response: contract.Inline(wording.Renamed(s.Title))})
	}
}

func (c *conversation) titleRefusal(text string) *contract.Request {
	if kind, why := c.listing.Refusal(text, c.closing != nil); kind != "" {
		return refusal(kind, why)
	}
	return nil
}

func (c *conversation) updateListing(ctx workflow.Context) {
	if c.closing == nil {
		c.listing.Update(ctx, c.state.UpdatedAt)
	}
}
