package push

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/network"
	"agent-stop-and-go/workflows/run"
	"agent-stop-and-go/workflows/signal"
	"agent-stop-and-go/workflows/wording"
)

// receive handles all signals that have arrived.
func (p *hooks) receive(ctx workflow.Context) {
	handleSignals(p, p.states, p.queueState(ctx))
	handleSignals(p, p.sets, p.set(ctx))
	handleSignals(p, p.deletes, func(d contract.PushDelete) error {
		p.remove(d.ID)
		return nil
	})
}

// handleSignals passes the signals of a channel to use. An invalid signal changes nothing and
// is shown in the details.
func handleSignals[T any](p *hooks, ch workflow.ReceiveChannel, use func(T) error) {
	for raw, ok := signal.Receive(ch); ok; raw, ok = signal.Receive(ch) {
		var v T
		err := json.Unmarshal(raw, &v)
		if err == nil {
			err = use(v)
		}
		if p.problem = ""; err != nil {
			p.problem = wording.SignalIgnored(err)
		}
	}
}

func (p *hooks) arrived() bool { return p.sets.Len()+p.deletes.Len()+p.states.Len() > 0 }

// set adds a webhook and queues the present state for it, or replaces a webhook, which inherits
// the queue.
func (p *hooks) set(ctx workflow.Context) func(contract.PushConfig) error {
	return func(config contract.PushConfig) error {
		if err := validateWebhook(config); err != nil {
			return err
		}
		next := &webhook{target: contract.PushTarget{Config: config}}
		p.state.EndsAt = time.Time{} // the time to read it begins
		i := p.index(config.ID)
		switch {
		case i >= 0:
			next.target.Queue = p.webhooks[i].target.Queue
			p.webhooks[i].stop()
			p.webhooks[i] = next
			return nil
		case len(p.webhooks) >= contract.MaxPushConfigs:
			return errors.New(wording.TooManyWebhooks())
		case p.state.Last != nil:
			next.add(p.item(ctx, *p.state.Last))
		}
		p.webhooks = append(p.webhooks, next)
		return nil
	}
}

// validateWebhook reports why a webhook cannot be called. The activity checks the address that
// its URL resolves to.
func validateWebhook(c contract.PushConfig) error {
	switch {
	case c.ID == "":
		return errors.New(wording.TextWebhookNoID)
	case !strings.HasPrefix(c.URL, "http://") && !strings.HasPrefix(c.URL, "https://"):
		return errors.New(wording.TextWebhookScheme)
	case len(c.URL) > network.MaxWebhookURL:
		return errors.New(wording.LongWebhookURL())
	}
	return nil
}

func (p *hooks) remove(id string) {
	if i := p.index(id); i >= 0 {
		p.webhooks[i].stop()
		p.webhooks = slices.Delete(p.webhooks, i, i+1)
	}
}

func (p *hooks) index(id string) int {
	return slices.IndexFunc(p.webhooks, func(c *webhook) bool { return c.target.Config.ID == id })
}

// queueState queues a state for every webhook. A conversation that was asked again or has
// continued as new repeats its state.
func (p *hooks) queueState(ctx workflow.Context) func(contract.PushState) error {
	return func(n contract.PushState) error {
		if n.State == "" || p.state.Last != nil && p.state.Last.State == n.State {
			return nil
		}
		p.state.Last, p.state.Gone = &n, false
		for _, c := range p.webhooks {
			c.add(p.item(ctx, n))
		}
		return nil
	}
}

// item returns a notification with a new ID. The ID is derived from the execution: another one
// under the same workflow ID has other IDs.
func (p *hooks) item(ctx workflow.Context, n contract.PushState) contract.PushItem {
	p.state.Seq++
	id := contract.NameUUID(workflow.GetInfo(ctx).FirstRunID, fmt.Sprintf("%s-%d", p.in.ConversationID, p.state.Seq))
	return contract.PushItem{ID: id, State: n, Since: run.Now(ctx)}
}
