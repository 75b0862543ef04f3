package workflows

import (
	"errors"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/decide"
	"agent-stop-and-go/workflows/wording"
)

// courier tells one webhook, one notification at a time.
type courier struct {
	contract.PushTarget
	running   bool
	cancel    workflow.CancelFunc // of the delivery under way
	dismissed bool                // the webhook was taken away or replaced
}

// add queues a notification and interrupts the delivery of one that gives way to it.
func (c *courier) add(i contract.PushItem) {
	before := c.Queue
	c.Queue = decide.QueueNotification(c.Queue, i)
	if len(before) > 0 && before[0].ID != c.Queue[0].ID {
		c.interrupt()
	}
}

func (c *courier) interrupt() {
	if c.cancel != nil {
		c.cancel()
	}
}

func (c *courier) dismiss() {
	c.dismissed = true
	c.interrupt()
}

// deliver is the coroutine that tells a webhook all that is queued. A delivery that was
// interrupted and failed is not given up: it is in the queue still, or was not to be.
func (p *push) deliver(ctx workflow.Context, c *courier) {
	for len(c.Queue) > 0 && !c.dismissed && !p.leaving && ctx.Err() == nil {
		item := c.Queue[0]
		out, interrupted, err := p.attempt(ctx, c, item)
		switch {
		case interrupted && err != nil:
			continue
		case err != nil:
			c.Failed = &contract.PushOutcome{State: item.News.State, At: now(ctx), Why: whyUntold(err)}
		case out.Gone:
			p.discard(c)
		default:
			c.Delivered = &contract.PushOutcome{State: item.News.State, At: now(ctx)}
		}
		c.drop(item)
		p.show(ctx)
	}
	c.running, p.wake = false, true
}

// attempt delivers a notification, or fails when its time is up. It returns only when
// no request is under way, so that those that follow are not overtaken.
func (p *push) attempt(ctx workflow.Context, c *courier, item contract.PushItem) (out contract.NotifyResult, interrupted bool, err error) {
	ctx, c.cancel = workflow.WithCancel(ctx)
	defer c.cancel()
	in := contract.NotifyInput{ID: item.ID, ConversationID: p.in.ConversationID, Config: c.Config, News: item.News}
	left := item.Since.Add(notifyFor).Sub(now(ctx))
	out, err = run(ctx, contract.ActivityNotify, notifying(max(left, time.Second), wording.PushSummary(in)), in)
	return out, ctx.Err() != nil, err
}

// whyUntold prefers what the last attempt came to over that there is no time for more.
func whyUntold(err error) string {
	var last *temporal.ApplicationError
	if errors.As(err, &last) {
		return last.Message()
	}
	return failure(err).Message
}

// discard takes a webhook away that wants nothing any more, unless it was replaced.
func (p *push) discard(c *courier) {
	if i := p.index(c.Config.ID); i >= 0 && p.couriers[i] == c {
		p.remove(c.Config.ID)
	}
}

// drop forgets a notification that may have given way to others meanwhile.
func (c *courier) drop(i contract.PushItem) {
	if len(c.Queue) > 0 && c.Queue[0].ID == i.ID {
		c.Queue = c.Queue[1:]
	}
}
