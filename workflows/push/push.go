package push

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/decide"
	"agent-stop-and-go/workflows/run"
	"agent-stop-and-go/workflows/wording"
)

// Push holds the webhooks of one task and calls them with its states. It ends a day after the
// last state. A webhook that does not answer does not delay others: each has its own coroutine
// (webhook.go).
func Push(ctx workflow.Context, in contract.PushInput) (contract.PushResult, error) {
	p := newPush(ctx, in)
	if err := workflow.SetQueryHandler(ctx, contract.QueryPushConfigs, p.query); err != nil {
		return contract.PushResult{}, fmt.Errorf("register query: %w", err)
	}
	return p.run(ctx)
}

type hooks struct {
	in          contract.PushInput
	state       contract.PushCarried // its Targets are those of couriers
	webhooks    []*webhook
	rollingOver bool   // the run is about to end
	wake        bool   // an event that no channel signals
	problem     string // problem of the last signal

	isLong func() bool // reports whether the run is about to continue as new

	sets, deletes, states workflow.ReceiveChannel
}

func newPush(ctx workflow.Context, in contract.PushInput) *hooks {
	p := &hooks{
		in:      in,
		sets:    workflow.GetSignalChannel(ctx, contract.SignalSet),
		deletes: workflow.GetSignalChannel(ctx, contract.SignalDelete),
		states:  workflow.GetSignalChannel(ctx, contract.SignalTask),
	}
	p.isLong = func() bool { return p.longRun(ctx) }
	if in.Carried != nil {
		p.state = *in.Carried
		for _, t := range p.state.Targets {
			p.webhooks = append(p.webhooks, &webhook{target: t})
		}
	}
	return p
}

// run is the loop that owns the signal channels.
func (p *hooks) run(ctx workflow.Context) (contract.PushResult, error) {
	if p.in.Carried == nil && !p.in.Coming {
		p.receive(ctx) // so that queries see the webhooks that came with the start
		p.follow(ctx)
	}
	for {
		p.receive(ctx)
		p.dispatch(ctx)
		p.show(ctx)
		switch {
		case p.ended(ctx):
			return contract.PushResult{ConversationID: p.in.ConversationID, Notifications: p.state.Seq}, nil
		case p.longRun(ctx) && ctx.Err() == nil:
			if p.rollOver(ctx) {
				return contract.PushResult{}, p.continueAsNew(ctx)
			}
			continue
		}
		if err := p.wait(ctx); err != nil { // an operator has cancelled it
			return contract.PushResult{}, err
		}
	}
}

// follow asks the conversation to send its state, now and from now on.
func (p *hooks) follow(ctx workflow.Context) {
	id := contract.ConversationWorkflowID(p.in.ConversationID)
	err := workflow.SignalExternalWorkflow(ctx, id, "", contract.SignalFollow, nil).Get(ctx, nil)
	var gone *temporal.UnknownExternalWorkflowExecutionError
	if p.state.Gone = errors.As(err, &gone); err != nil && !p.state.Gone {
		workflow.GetLogger(ctx).Warn("follow the conversation", "error", err)
	}
}

// dispatch starts the coroutines of webhooks that have something queued.
func (p *hooks) dispatch(ctx workflow.Context) {
	for _, c := range p.webhooks {
		if len(c.target.Queue) > 0 && !c.running {
			c.running = true
			workflow.Go(ctx, func(ctx workflow.Context) { p.deliver(ctx, c) })
		}
	}
}

func (p *hooks) idle() bool {
	return !slices.ContainsFunc(p.webhooks, func(c *webhook) bool { return c.running })
}

// ended reports whether no more states are expected and the time to read the webhooks is over.
func (p *hooks) ended(ctx workflow.Context) bool {
	over := p.state.Gone || p.state.Last != nil && p.state.Last.State.Over()
	switch {
	case !over || !p.idle():
		p.state.EndsAt = time.Time{}
		return false
	case p.state.EndsAt.IsZero():
		p.state.EndsAt = run.Now(ctx).Add(kept)
	}
	return !run.Now(ctx).Before(p.state.EndsAt) && !p.arrived()
}

// wait blocks until there is something to do. A conversation that has sent nothing for long is
// asked again, because a terminated conversation sends no last state.
func (p *hooks) wait(ctx workflow.Context) error {
	d, what := silence, wording.SummaryNextFollow
	if !p.state.EndsAt.IsZero() {
		d, what = p.state.EndsAt.Sub(run.Now(ctx)), wording.SummaryPushEnd
	}
	ok, err := workflow.AwaitWithOptions(ctx, run.Timeout(max(d, time.Millisecond), what), func() bool { return p.wake || p.arrived() })
	p.wake = false
	if err == nil && !ok && p.state.EndsAt.IsZero() {
		p.follow(ctx)
	}
	return err
}

func (p *hooks) longRun(ctx workflow.Context) bool {
	return decide.RollOverNode(run.History(ctx))
}

// rollOver interrupts the deliveries and reports whether nothing arrived meanwhile, so that the
// run may end. Undelivered states are carried over.
func (p *hooks) rollOver(ctx workflow.Context) bool {
	p.rollingOver = true
	for _, c := range p.webhooks {
		c.interrupt()
	}
	err := workflow.Await(ctx, p.idle)
	p.rollingOver = false
	return err == nil && !p.arrived()
}

func (p *hooks) continueAsNew(ctx workflow.Context) error {
	next := p.in
	state := p.carried()
	next.Carried = &state
	return workflow.NewContinueAsNewError(ctx, contract.WorkflowPush, next)
}

func (p *hooks) carried() contract.PushCarried {
	s := p.state
	s.Targets = nil
	for _, c := range p.webhooks {
		s.Targets = append(s.Targets, c.target)
	}
	return s
}

func (p *hooks) query() (contract.PushView, error) {
	v := contract.PushView{Configs: []contract.PushConfig{}, Long: p.isLong()}
	if p.state.Last != nil {
		v.State = p.state.Last.State
	}
	for _, c := range p.webhooks {
		v.Configs = append(v.Configs, c.target.Config)
	}
	return v, nil
}

func (p *hooks) show(ctx workflow.Context) {
	workflow.SetCurrentDetails(ctx, wording.PushDetails(p.carried(), p.problem))
}
