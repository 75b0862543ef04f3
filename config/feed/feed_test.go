package feed_test

import (
	"fmt"
	"testing"
	"time"

	"agent-stop-and-go/config/feed"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/generation"
)

// piece returns the i-th piece of a draft. Pieces of different calls are never joined.
func piece(id string, i int) contract.Event {
	return contract.Event{ConversationID: id, Delta: &generation.Delta{DraftID: "d", Kind: generation.Arguments, Call: i, Text: fmt.Sprint(i)}}
}

func changed(id string) contract.Event { return contract.Event{ConversationID: id} }

// patience limits every wait. It passes only if something is broken.
const patience = 2 * time.Minute

// eventually polls until ok holds.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("never happened: %s", what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// take waits for an event; ok is false if the channel is closed.
func take(t *testing.T, events <-chan contract.Event) (n contract.Event, ok bool) {
	t.Helper()
	select {
	case n, ok = <-events:
		return n, ok
	case <-time.After(patience):
		t.Fatal("no events")
		return n, false
	}
}

func wantPieces(t *testing.T, events <-chan contract.Event, id string, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		n, ok := take(t, events)
		if !ok || n.Delta == nil || n.ConversationID != id || n.Delta.Call != i || n.Delta.Text != fmt.Sprint(i) {
			t.Fatalf("piece %d: got %+v (%+v), %v", i, n, n.Delta, ok)
		}
	}
}

func wantLost(t *testing.T, events <-chan contract.Event) {
	t.Helper()
	for {
		if _, ok := take(t, events); !ok {
			return
		}
	}
}

func wantSilence(t *testing.T, events <-chan contract.Event) {
	t.Helper()
	select {
	case n, ok := <-events:
		t.Errorf("got %+v, %v", n, ok)
	default:
	}
}

func TestOpenChoosesTheFeed(t *testing.T) {
	for want, o := range map[feed.State]feed.Options{
		{Kind: feed.KindMemory, Ready: true}: {OneProcess: true},
		{Kind: feed.KindNone, Problem: "durable events only: set events.redis for the pieces of replies while they are being made"}: {},
	} {
		f, err := feed.Open(o)
		if err != nil || f.State() != want {
			t.Errorf("%+v: %+v, %v", o, f.State(), err)
		}
		if (f.Publisher() == nil) != (want.Kind == feed.KindNone) {
			t.Errorf("%+v: publisher %v", o, f.Publisher())
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestTheEmptyFeedDeliversNothing(t *testing.T) {
	f := feed.None()
	events, stop := f.Subscribe("a")
	f.Publish(changed("a"))
	wantSilence(t, events)
	stop()
	wantLost(t, events)
}
