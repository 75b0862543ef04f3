package feed_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"agent-stop-and-go/config/feed"
	"agent-stop-and-go/config/feed/feedtest"
	"agent-stop-and-go/workflows/contract"
)

// Whatever happens to Redis, and however much is told: between two losses a watcher
// gets pieces that follow each other.
func TestThereAreNoHoles(t *testing.T) {
	s := feedtest.NewServer(t, password)
	worker, _ := open(t, s)
	gateway, _ := open(t, s)
	ready(t, worker, gateway)
	defer tellAlways(worker)()
	w := follower{t: t, feed: gateway, last: -1}
	w.watch()
	for range 3 {
		w.hear(1 + rand.IntN(1500))
		s.Kill()
		w.hear(0)
		s.Start()
	}
	w.hear(500)
	if w.losses < 3 {
		t.Errorf("%d losses", w.losses)
	}
}

// tellAlways tells pieces in bursts, some of which are in a crowd, until it is
// stopped.
func tellAlways(f *feed.Feed) (stop func()) {
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
			crowd := 0 // of others, which leave no place
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

// follower watches for ever, and looks for holes.
type follower struct {
	t      *testing.T
	feed   *feed.Feed
	news   <-chan contract.Event
	last   int
	losses int
}

func (w *follower) watch() { w.news, _ = w.feed.Subscribe("a") }

// hear takes some pieces; of none it waits for a loss.
func (w *follower) hear(pieces int) {
	w.t.Helper()
	for heard := 0; heard < max(pieces, 1); {
		n, ok := take(w.t, w.news)
		switch {
		case !ok:
			w.watch()
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
			heard += min(pieces, 1)
		}
	}
}
