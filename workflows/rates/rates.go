package rates

import (
	"errors"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/rates"
	"agent-stop-and-go/workflows/run"
	"agent-stop-and-go/workflows/signal"
)

// linger is how long the workflow stays after the last call no longer counts.
const linger = time.Minute

// maxHistory is the number of events after which a run continues as new.
const maxHistory = 2000

// Registry is what the workflow is registered with: a worker, a replayer or a test environment.
type Registry interface {
	RegisterWorkflowWithOptions(w any, o workflow.RegisterOptions)
}

// Register registers the workflow.
func Register(r Registry) {
	r.RegisterWorkflowWithOptions(Rate, workflow.RegisterOptions{Name: rates.Workflow})
}

// Rate counts calls until none counts any more. A cancellation changes nothing.
func Rate(ctx workflow.Context, in rates.Input) error {
	c := &counter{in: in, log: log{in.Counted, in.Waiting}, used: run.Now(ctx)}
	ctx, _ = workflow.NewDisconnectedContext(ctx)
	c.returned = workflow.GetSignalChannel(ctx, rates.SignalReturn)
	if err := c.register(ctx); err != nil {
		return err
	}
	for {
		wait := max(c.end().Sub(workflow.Now(ctx)), time.Second)
		o := run.Timeout(wait, "the last call no longer counts")
		if _, err := workflow.AwaitWithOptions(ctx, o, func() bool { return c.returned.Len() > 0 || run.IsLong(ctx, maxHistory) }); err != nil {
			return err
		}
		c.drain()
		switch idle := c.returned.Len() == 0 && workflow.AllHandlersFinished(ctx); {
		case idle && run.IsLong(ctx, maxHistory):
			in.Counted, in.Waiting, in.Window = c.log.counted, c.log.waiting, c.in.Window
			return workflow.NewContinueAsNewError(ctx, rates.Workflow, in)
		case idle && !c.end().After(workflow.Now(ctx)):
			return nil
		}
	}
}

type counter struct {
	in       rates.Input
	log      log
	used     time.Time // when the last call was taken
	returned workflow.ReceiveChannel
}

func (c *counter) register(ctx workflow.Context) error {
	if err := workflow.SetQueryHandler(ctx, rates.QueryRate, c.view); err != nil {
		return err
	}
	return workflow.SetUpdateHandlerWithOptions(ctx, rates.UpdateTake, c.take, workflow.UpdateHandlerOptions{Validator: validate})
}

func validate(_ workflow.Context, takes []rates.Take) error {
	problem := ""
	if len(takes) == 0 || len(takes) > rates.MaxTakes {
		problem = "an update takes room for 1 to 100 calls"
	}
	for _, t := range takes {
		if t.Key == "" || t.Calls < 1 || t.Calls > rates.MaxCalls || t.In <= 0 {
			problem = "a call needs a key, a number of calls and a time"
		}
	}
	if problem == "" {
		return nil
	}
	return temporal.NewNonRetryableApplicationError(problem, string(contract.KindInvalid), errors.New(problem))
}

func (c *counter) take(ctx workflow.Context, takes []rates.Take) ([]rates.Outcome, error) {
	now := run.Now(ctx)
	out := make([]rates.Outcome, len(takes))
	for i, t := range takes {
		c.in.Window = max(c.in.Window, t.In)
		c.log.prune(now, c.in.Window)
		out[i] = c.log.take(t, now)
	}
	c.used = now
	return out, nil
}

// drain takes back the calls that were not made.
func (c *counter) drain() {
	for raw, ok := signal.Receive(c.returned); ok; raw, ok = signal.Receive(c.returned) {
		if key := signal.Optional[string](raw); key != "" {
			c.log.remove(key)
		}
	}
}

// end is when the workflow completes.
func (c *counter) end() time.Time {
	last := c.used
	for _, e := range slices.Concat(c.log.counted, c.log.waiting) {
		if e.At.After(last) {
			last = e.At
		}
	}
	return last.Add(c.in.Window + linger)
}

// view is the count at a time. The workflow's own time is that of its last task.
func (c *counter) view(now time.Time) (rates.View, error) {
	v := rates.View{Limit: c.in.Limit, Who: c.in.Who, Waiting: len(c.log.waiting)}
	for _, e := range c.log.counted {
		if counts(e, now, c.in.Window) {
			if v.Used++; v.Used == 1 {
				v.From = e.At
			}
		}
	}
	return v, nil
}
