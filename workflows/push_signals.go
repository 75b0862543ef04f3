package workflows

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

// receive takes everything that has arrived.
func (p *push) receive(ctx workflow.Context) {
	take(p, p.news, p.tell(ctx))
	take(p, p.sets, p.set(ctx))
	take(p, p.deletes, func(d contract.PushDelete) error {
		p.remove(d.ID)
		return nil
	})
}

// take hands the signals of a channel on. One that is no use leaves everything as it
// was and is shown.
func take[T any](p *push, ch workflow.ReceiveChannel, use func(T) error) {
	for raw, ok := receive(ch); ok; raw, ok = receive(ch) {
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

func (p *push) arrived() bool { return p.sets.Len()+p.deletes.Len()+p.news.Len() > 0 }

// set adds a webhook, which is told the present state, or replaces one, which is told
// what the one before had not been.
func (p *push) set(ctx workflow.Context) func(contract.PushConfig) error {
	return func(config contract.PushConfig) error {
		if err := useless(config); err != nil {
			return err
		}
		next := &courier{PushTarget: contract.PushTarget{Config: config}}
		p.state.EndsAt = time.Time{} // the time to read it begins
		i := p.index(config.ID)
		switch {
		case i >= 0:
			next.Queue = p.couriers[i].Queue
			p.couriers[i].dismiss()
			p.couriers[i] = next
			return nil
		case len(p.couriers) >= contract.MaxPushConfigs:
			return errors.New(wording.TooManyWebhooks())
		case p.state.Last != nil:
			next.add(p.item(ctx, *p.state.Last))
		}
		p.couriers = append(p.couriers, next)
		return nil
	}
}

// useless tells why nothing could be sent to a webhook. Where its URL leads is for the
// activity to see.
func useless(c contract.PushConfig) error {
	switch {
	case c.ID == "":
		return errors.New(wording.TextWebhookNoID)
	case !strings.HasPrefix(c.URL, "http://") && !strings.HasPrefix(c.URL, "https://"):
		return errors.New(wording.TextWebhookScheme)
	case len(c.URL) > contract.MaxWebhookURL:
		return errors.New(wording.LongWebhookURL())
	}
	return nil
}

func (p *push) remove(id string) {
	if i := p.index(id); i >= 0 {
		p.couriers[i].dismiss()
		p.couriers = slices.Delete(p.couriers, i, i+1)
	}
}

func (p *push) index(id string) int {
	return slices.IndexFunc(p.couriers, func(c *courier) bool { return c.Config.ID == id })
}

// tell has every webhook told. A conversation that is asked again, or has continued as
// new, repeats itself.
func (p *push) tell(ctx workflow.Context) func(contract.PushNews) error {
	return func(n contract.PushNews) error {
		if n.State == "" || p.state.Last != nil && p.state.Last.State == n.State {
			return nil
		}
		p.state.Last, p.state.Gone = &n, false
		for _, c := range p.couriers {
			c.add(p.item(ctx, n))
		}
		return nil
	}
}

// item is a notification of its own. Its ID is derived: another execution under the
// same workflow ID has others.
func (p *push) item(ctx workflow.Context, n contract.PushNews) contract.PushItem {
	p.state.Seq++
	id := contract.NameUUID(workflow.GetInfo(ctx).FirstRunID, fmt.Sprintf("%s-%d", p.in.ConversationID, p.state.Seq))
	return contract.PushItem{ID: id, News: n, Since: now(ctx)}
}
