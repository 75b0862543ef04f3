package push

import (
	"errors"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/activity"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/decide"
	"agent-stop-and-go/workflows/run"
	"agent-stop-and-go/workflows/wording"
)

// webhook delivers notifications to one webhook, one at a time.
type webhook struct {
	target  contract.PushTarget
	running bool
	cancel  workflow.CancelFunc // of the delivery under way
	removed bool                // deleted or replaced
}

// add queues a notification, and interrupts the delivery of one that it replaces.
func (c *webhook) add(i contract.PushItem) {
	before := c.target.Queue
	c.target.Queue = decide.QueueNotification(c.target.Queue, i)
	if len(before) > 0 && before[0].ID != c.target.Queue[0].ID {
		c.interrupt()
	}
}

func (c *webhook) interrupt() {
	if c.cancel != nil {
		c.cancel()
	}
}

func (c *webhook) stop() {
	c.removed = true
	c.interrupt()
}

// deliver is the coroutine that delivers the queue of a webhook. An interrupted delivery is not
// recorded as failed: it is still in the queue, or was replaced.
func (p *hooks) deliver(ctx workflow.Context, c *webhook) {
	for len(c.target.Queue) > 0 && !c.removed && !p.rollingOver && ctx.Err() == nil {
		item := c.target.Queue[0]
		out, interrupted, err := p.attempt(ctx, c, item)
		switch {
		case interrupted && err != nil:
			continue
		case err != nil:
			c.target.Failed = &contract.PushOutcome{State: item.State.State, At: run.Now(ctx), Why: deliveryProblem(err)}
		case out.Gone:
			p.removeGone(c)
		default:
			c.target.Delivered = &contract.PushOutcome{State: item.State.State, At: run.Now(ctx)}
		}
		c.drop(item)
		p.show(ctx)
	}
	c.running, p.wake = false, true
}

// attempt delivers a notification, or fails when its time is up. It returns only when no
// request is under way, so that later notifications do not overtake it.
func (p *hooks) attempt(ctx workflow.Context, c *webhook, item contract.PushItem) (out contract.NotifyResult, interrupted bool, err error) {
	ctx, c.cancel = workflow.WithCancel(ctx)
	defer c.cancel()
	in := contract.NotifyInput{ID: item.ID, ConversationID: p.in.ConversationID, Config: c.target.Config, State: item.State}
	left := item.Since.Add(notifyFor).Sub(run.Now(ctx))
	out, err = activity.Run(ctx, contract.ActivityNotify, webhookOptions(max(left, time.Second), wording.PushSummary(in)), in)
	return out, ctx.Err() != nil, err
}

// deliveryProblem prefers the failure of the last attempt to the timeout of all attempts.
func deliveryProblem(err error) string {
	var last *temporal.ApplicationError
	if errors.As(err, &last) {
		return last.Message()
	}
	return activity.Failure(err).Message
}

// removeGone removes a webhook that has answered that it is gone, unless it was replaced.
func (p *hooks) removeGone(c *webhook) {
	if i := p.index(c.target.Config.ID); i >= 0 && p.webhooks[i] == c {
		p.remove(c.target.Config.ID)
	}
}

// drop removes a notification from the queue, unless it was replaced meanwhile.
func (c *webhook) drop(i contract.PushItem) {
	if len(c.target.Queue) > 0 && c.target.Queue[0].ID == i.ID {
		c.target.Queue = c.target.Queue[1:]
	}
}
