package switchboard_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"agent-stop-and-go/activities/switchboard"
	"agent-stop-and-go/workflows/contract/switches"
)

// Each worker has a board of its own. A pause is in force at all of them after a second, and a resume
// at once, whatever they knew.
func TestASwitchIsInForceAtEveryWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var control atomic.Pointer[switches.State]
		control.Store(&switches.State{})
		workers := make([]*switchboard.Board, 5)
		for i := range workers {
			workers[i] = &switchboard.Board{Read: func(context.Context) (switches.State, error) { return *control.Load(), nil }}
		}
		held := func() (n int) {
			t.Helper()
			for _, w := range workers {
				_, paused, err := w.Holding(t.Context(), switches.Call{Agent: "shop", Tool: "pay"})
				if err != nil {
					t.Fatal(err)
				}
				if paused {
					n++
				}
			}
			return n
		}
		for range 3 {
			if n := held(); n != 0 {
				t.Errorf("%d of %d workers hold a call that nothing pauses", n, len(workers))
			}
			control.Store(&switches.State{Switches: []switches.Switch{{What: "agent:shop"}}})
			time.Sleep(time.Second)
			if n := held(); n != len(workers) {
				t.Errorf("a second after the pause %d of %d workers hold the call", n, len(workers))
			}
			control.Store(&switches.State{})
		}
	})
}
