package switchboard_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"agent-stop-and-go/activities/switchboard"
	"agent-stop-and-go/workflows/contract/switches"
)

func TestCallsThatComeTogetherNeedOneAnswer(t *testing.T) {
	paused := switches.State{Switches: []switches.Switch{{What: switches.All}}}
	for name, answer := range map[string]struct {
		state switches.State
		err   error
	}{
		"nothing is paused": {}, "everything is paused": {state: paused}, "the server is away": {err: errors.New("away")},
	} {
		t.Run(name, func(t *testing.T) {
			const calls = 50
			var reads atomic.Int64
			all := make(chan struct{})
			b := &switchboard.Board{Read: func(context.Context) (switches.State, error) {
				if reads.Add(1); reads.Load() == 1 {
					<-all
					time.Sleep(50 * time.Millisecond) // until they have asked
				}
				return answer.state, answer.err
			}}
			var asking, asked sync.WaitGroup
			asking.Add(calls)
			for range calls {
				asked.Go(func() {
					asking.Done()
					_, held, err := b.Holding(t.Context(), switches.Call{})
					if held != (len(answer.state.Switches) > 0) || !errors.Is(err, answer.err) {
						t.Errorf("held %v, %v", held, err)
					}
				})
			}
			asking.Wait()
			close(all)
			asked.Wait()
			if n := reads.Load(); n > 2 { // one for the first, one for those that came while it was read
				t.Errorf("%d calls need %d reads", calls, n)
			}
		})
	}
}

func TestTheEndOfOneCallIsNoAnswerForOthers(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	b := &switchboard.Board{Read: func(ctx context.Context) (switches.State, error) {
		cancel()
		return switches.State{}, ctx.Err()
	}}
	if _, _, err := b.Holding(ctx, switches.Call{}); !errors.Is(err, context.Canceled) {
		t.Errorf("the call that has ended: %v", err)
	}
	if _, _, err := b.Holding(t.Context(), switches.Call{}); err != nil {
		t.Errorf("another call: %v", err)
	}
}
