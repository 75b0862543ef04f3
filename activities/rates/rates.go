package rates

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/rates"
	"agent-stop-and-go/workflows/contract/switches"
)

// Counter counts calls in workflows.
type Counter interface {
	// Take takes room in the workflow with the ID, which in starts if it does not run.
	Take(ctx context.Context, id string, in rates.Input, takes []rates.Take) ([]rates.Outcome, error)
	// Return takes back what was counted.
	Return(ctx context.Context, id, key string) error
}

// Limiter knows the limits of an agent.
type Limiter struct {
	Agent  string
	Limits []rates.Limit
	// Changes reads what somebody has changed since the start; nil has none.
	Changes func(context.Context) (switches.State, error)
	Counter Counter

	batches batches
}

// New returns nil without limits: then no call is counted.
func New(agent string, limits []rates.Limit, changes func(context.Context) (switches.State, error), c Counter) *Limiter {
	if len(limits) == 0 {
		return nil
	}
	return &Limiter{Agent: agent, Limits: limits, Changes: changes, Counter: c}
}

// Hold counts a call. Its error is that of an activity: of the kind KindRateLimited if a limit holds
// the call, with the Refusal in its details, and of the given kind if the call could not be counted.
func (l *Limiter) Hold(ctx context.Context, kind contract.Kind, c rates.Call) error {
	refused, err := l.Take(ctx, c)
	switch {
	case err != nil:
		return temporal.NewApplicationErrorWithOptions(err.Error(), string(kind), temporal.ApplicationErrorOptions{})
	case refused != nil:
		return temporal.NewApplicationErrorWithOptions(refused.Text(), string(contract.KindRateLimited),
			temporal.ApplicationErrorOptions{NonRetryable: true, Details: []any{*refused}})
	}
	return nil
}

// taken is room that a call has taken.
type taken struct {
	id, key string
	fresh   bool
}

// Take counts a call. If a limit is reached it returns why; then the call counts nowhere.
func (l *Limiter) Take(ctx context.Context, c rates.Call) (*rates.Refusal, error) {
	if l == nil {
		return nil, nil
	}
	matching := slices.Collect(func(yield func(rates.Limit) bool) {
		for _, limit := range l.Limits {
			if limit.Matches(c) && !yield(limit) {
				return
			}
		}
	})
	if len(matching) == 0 {
		return nil, nil
	}
	var state switches.State
	if l.Changes != nil {
		var err error
		if state, err = l.Changes(ctx); err != nil {
			return nil, err
		}
	}
	var all []taken
	for _, limit := range matching {
		now := state.Limit(l.Agent, limit)
		refused, t, err := l.take(ctx, now, c)
		if err != nil || refused != nil {
			l.giveBack(ctx, all)
			return refused, err
		}
		all = append(all, t)
	}
	return nil, nil
}

func (l *Limiter) take(ctx context.Context, limit rates.Limit, c rates.Call) (*rates.Refusal, taken, error) {
	who := limit.Who(c)
	t := taken{id: rates.WorkflowID(l.Agent, limit.Name, who), key: rates.KeyOf(c.Conversation, c.Key)}
	out, err := l.batches.take(ctx, l.Counter, t.id, rates.Input{Agent: l.Agent, Limit: limit.Name, Who: who}, rates.Take{
		Key: t.key, Calls: limit.Calls, In: limit.In, Wait: limit.On == rates.Pause, Over: c.Allows(limit.Name),
	})
	switch {
	case err != nil:
		return nil, t, fmt.Errorf("count the call for the rate limit %q: %w", limit.Name, err)
	case out.Room:
		t.fresh = out.New
		return nil, t, nil
	case limit.On == rates.Pause && !out.Waits: // too many wait
		limit.On = rates.Deny
	}
	return &rates.Refusal{Limit: limit, Counter: t.id, Key: t.key, At: out.At}, t, nil
}

// giveBack returns what a call has taken that another limit holds. What is lost counts as long as
// a call.
func (l *Limiter) giveBack(ctx context.Context, all []taken) {
	for _, t := range all {
		if !t.fresh {
			continue
		}
		if err := l.Counter.Return(context.WithoutCancel(ctx), t.id, t.key); err != nil {
			slog.Warn("a call that was not made counts for its rate limit", "error", err)
		}
	}
}
