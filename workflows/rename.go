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

// maxRenames bounds the titles in a run, which cannot continue as new while an approval waits.
const maxRenames = 32

func (c *conversation) receiveRenames(ctx workflow.Context) {
	for raw, ok := signal.Receive(c.renames); ok; raw, ok = signal.Receive(c.renames) {
		s := signal.Optional[title.Rename](raw)
		if workflow.GetVersion(ctx, changeRename, workflow.DefaultVersion, 1) >= 1 && c.takeSender(ctx, title.SignalRename, raw, s.RequestID, &s.Identity, &s.Proof) {
			c.rename(ctx, s)
		}
	}
}

// rename gives the conversation a title, which replaces the previous one.
func (c *conversation) rename(ctx workflow.Context, s title.Rename) {
	id := c.addRequest(s.RequestID, s.Fingerprint)
	switch no := c.titleRefusal(s.Title); {
	case id == "":
	case no != nil:
		c.refuse(ctx, id, *no)
	default:
		c.titles++
		c.state.UpdatedAt = run.Now(ctx)
		c.state.Title = &contract.Title{Text: s.Title, By: s.By, OnBehalfOf: s.OnBehalfOf, Identity: s.Identity, At: c.state.UpdatedAt}
		c.listing.SetTitle(s.Title)
		c.settle(ctx, []string{id}, contract.Result{Response: contract.Inline(wording.Renamed(s.Title))})
	}
}

// titleRefusal returns why a title is refused in the current state, or nil.
func (c *conversation) titleRefusal(text string) *contract.Request {
	switch err := title.Check(text); {
	case c.closing != nil:
		return refusal(contract.KindCompleted, wording.TextCompleted)
	case c.titles >= maxRenames:
		return refusal(contract.KindBusy, wording.TextManyTitles)
	case err != nil:
		return refusal(contract.KindInvalid, err.Error())
	}
	return nil
}

func (c *conversation) updateListing(ctx workflow.Context) {
	if c.closing == nil {
		c.listing.Update(ctx, c.state.UpdatedAt)
	}
}

// setTitle names a conversation after its first message, unless somebody has named it. One that
// was started with a message has its title from the caller.
func (c *conversation) setTitle(m contract.MessageSignal) {
	if c.state.Turn == 1 && c.in.First == nil && c.state.Title == nil {
		c.listing.SetTitle(title.Of(m))
	}
}
