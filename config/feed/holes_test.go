package feed_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"agent-stop-and-go/config/feed"
	"agent-stop-and-go/config/feed/feedtest"
	"agent-stop-and-go/workflows/contract"
)

// Whatever happens to Redis, and however much is published: between two losses a subscriber
// gets consecutive pieces.
func TestThereAreNoHoles(t *testing.T) {
	s := feedtest.NewServer(t, password)
	worker, _ := open(t, s)
	gateway, _ := open(t, s)
	ready(t, worker, gateway)
	defer publishAlways(worker)()
	w := follower{t: t, feed: gateway, last: -1}
	w.subscribe()
	for range 3 {
		w.receive(1 + rand.IntN(1500))
		s.Kill()
		w.receive(0)
		s.Start()
	}
	w.receive(500)
	if w.losses < 3 {
		t.Errorf("%d losses", w.losses)
	}
}

// publishAlways publishes bursts of pieces until it is stopped. Some bursts are mixed with
// pieces of another conversation.
func publishAlways(f *feed.Feed) (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for i := 0; ; {
			select {
			case <-quit:
				return
			case <-tick.C:
			}
			crowd := 0 // of another conversation, which fill the outbox
			if rand.IntN(20) == 0 {
				crowd = 500
			}
			for range rand.IntN(20) {
				for j := range crowd {
					f.Publish(piece("b", j))
				}
				f.Publish(piece("a", i))
				i++
			}
		}
	}()
	return func() { close(quit); <-done }
}

// follower subscribes again after every loss, and looks for gaps.
type follower struct {
	t      *testing.T
	feed   *feed.Feed
	events <-chan contract.Event
	last   int
	losses int
}

func (w *follower) subscribe() { w.events, _ = w.feed.Subscribe("a") }

// receive takes some pieces; with 0 it waits for a loss.
func (w *follower) receive(pieces int) {
	w.t.Helper()
	for received := 0; received < max(pieces, 1); {
		n, ok := take(w.t, w.events)
		switch {
		case !ok:
			w.subscribe()
			w.last = -1
			w.losses++
			if pieces == 0 {
				return
			}
		case n.Delta == nil:
		case w.last >= 0 && n.Delta.Call != w.last+1:
			w.t.Fatalf("%d after %d", n.Delta.Call, w.last)
		default:
			w.last = n.Delta.Call
			received += min(pieces, 1)
		}
	}
}
