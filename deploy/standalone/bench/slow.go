package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"agent-stop-and-go/workflows/contract"
)

// youngCall is the age that a call has at most when it is cancelled. In mode auto, most of
// these calls still hold their workflow task.
const youngCall = 2 * time.Second

// slowCalls measures, in mode auto, after what time the server has a model call as an activity
// that the Web UI shows, and how long it takes to cancel a turn during its call, beside mode
// regular.
func slowCalls(ctx context.Context, n size, t *table) error {
	return within(ctx, contract.ExecutionAuto, func(auto *stack) error {
		return within(ctx, contract.ExecutionRegular, func(regular *stack) error {
			var seen []time.Duration
			for range n.slow / 4 {
				if err := auto.hold(ctx, func(c *chat) (err error) {
					seen, err = appendTime(seen, func() error { return auto.awaitActivity(ctx, c.id) })
					return err
				}); err != nil {
					return err
				}
			}
			most := quantile(seen, 1)
			t.value("auto: call to activity, maximum", ms(most), "≤ 2000 ms", most <= 2*time.Second)
			return cancels(ctx, auto, regular, n, t)
		})
	})
}

func cancels(ctx context.Context, auto, regular *stack, n size, t *table) error {
	var times [2][]time.Duration
	for range n.slow {
		for i, s := range []*stack{auto, regular} {
			if err := s.hold(ctx, func(c *chat) (err error) {
				pause(ctx, time.After(rand.N(youngCall)))
				times[i], err = appendTime(times[i], func() error {
					return c.call(ctx, "POST", "/conversations/"+c.id+"/cancel", struct{}{}, nil)
				})
				return err
			}); err != nil {
				return err
			}
		}
	}
	for _, q := range []float64{.5, .95} {
		ours, theirs := quantile(times[0], q), quantile(times[1], q)
		t.ratio(fmt.Sprintf("auto: cancel during a call, p%.0f / regular", 100*q), ms(ours), ms(theirs), float64(ours)/float64(theirs),
			only(q > .5, "≤ 100 ms"), ours <= 100*time.Millisecond)
	}
	return nil
}

func appendTime(times []time.Duration, f func() error) ([]time.Duration, error) {
	took, err := each(1, f)
	return append(times, took...), err
}

// hold runs f during the model call of a turn.
func (s *stack) hold(ctx context.Context, f func(*chat) error) error {
	asked, turn := make(chan struct{}), make(chan error, 1)
	s.model.hold, s.model.asked = make(chan struct{}), asked
	c, err := s.newChat(ctx, "")
	if err != nil {
		return err
	}
	go func() { turn <- c.call(ctx, "POST", "/conversations/"+c.id+"/messages", message{"hold"}, nil) }()
	select {
	case <-asked:
	case err := <-turn:
		return fmt.Errorf("a held turn has ended: %w", err)
	}
	if err := f(c); err != nil {
		return err
	}
	close(s.model.hold)
	return <-turn
}

// awaitActivity waits until the server has an activity of a conversation.
func (s *stack) awaitActivity(ctx context.Context, id string) error {
	for {
		d, err := s.Client.DescribeWorkflowExecution(ctx, contract.ConversationWorkflowID(id), "")
		if err != nil || len(d.GetPendingActivities()) > 0 {
			return err
		}
		if err := wait(ctx); err != nil {
			return err
		}
	}
}
