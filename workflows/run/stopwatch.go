package run

import (
	"time"

	"go.temporal.io/sdk/workflow"
)

// Stopwatch measures how long something works. Time spent waiting for people does not count. The
// zero value has not been started.
type Stopwatch struct {
	// Budget is that of Limit, and Expired reports whether it is used up.
	Budget  time.Duration
	Expired bool

	over   bool
	pauses int
	since  time.Time // of work, while nobody is asked
	worked time.Duration
}

// Start starts to measure.
func (s *Stopwatch) Start(ctx workflow.Context) { s.since = workflow.Now(ctx) }

// Stop ends the measurement, and returns what it is.
func (s *Stopwatch) Stop(ctx workflow.Context) time.Duration {
	s.over = true
	return s.Elapsed(ctx)
}

// Elapsed returns the time of work so far.
func (s *Stopwatch) Elapsed(ctx workflow.Context) time.Duration {
	if s.pauses > 0 {
		return s.worked
	}
	return s.worked + workflow.Now(ctx).Sub(s.since)
}

// Pause stops the clock while a person is asked, until resume is called.
func (s *Stopwatch) Pause(ctx workflow.Context) (resume func()) {
	s.worked = s.Elapsed(ctx)
	s.pauses++
	return func() {
		if s.pauses--; s.pauses == 0 {
			s.since = workflow.Now(ctx)
		}
	}
}

// Limit returns a context that ends when the budget is used up; a zero budget is unlimited. The
// summary is that of its timer.
func (s *Stopwatch) Limit(ctx workflow.Context, budget time.Duration, summary string) workflow.Context {
	if budget <= 0 {
		return ctx
	}
	s.Budget = budget
	ctx, cancel := workflow.WithCancel(ctx)
	workflow.Go(ctx, func(ctx workflow.Context) {
		for !s.over {
			left := max(budget-s.Elapsed(ctx), time.Millisecond)
			stopped, err := workflow.AwaitWithOptions(ctx, Timeout(left, summary), func() bool { return s.over || s.pauses > 0 })
			if err == nil && !stopped {
				s.Expired = true
				cancel()
			}
			if err != nil || !stopped {
				return
			}
			if workflow.Await(ctx, func() bool { return s.over || s.pauses == 0 }) != nil {
				return
			}
		}
	})
	return ctx
}
