package feed_test

import (
	"fmt"
	"runtime"
	"sync"
	"testing"

	"agent-stop-and-go/config/feed"
	"agent-stop-and-go/workflows/contract"
)

func TestEverySubscriberGetsTheEventsOfItsConversationInOrder(t *testing.T) {
	f := feed.Memory()
	a1, _ := f.Subscribe("a")
	a2, _ := f.Subscribe("a")
	b, _ := f.Subscribe("b")
	for i := range 100 {
		f.Publish(piece("a", i))
		f.Publish(piece("b", i))
		f.Publish(piece("other", i))
	}
	wantPieces(t, a1, "a", 0, 100)
	wantPieces(t, a2, "a", 0, 100)
	wantPieces(t, b, "b", 0, 100)
	wantSilence(t, a1)
}

func TestViewsStayWithinAProcess(t *testing.T) {
	f := feed.Memory()
	events, _ := f.Subscribe("a")
	view := &contract.ConversationView{ID: "a"}
	f.Publish(contract.Event{ConversationID: "a", Settled: view})
	if n, _ := take(t, events); n.Settled != view {
		t.Errorf("got %+v", n)
	}
}

func TestASlowSubscriberIsDroppedAndBlocksNoOther(t *testing.T) {
	f := feed.Memory()
	slow, stop := f.Subscribe("a")
	quick, _ := f.Subscribe("a")
	for i := range 3000 {
		f.Publish(piece("a", i))
		wantPieces(t, quick, "a", i, i+1)
	}
	wantPieces(t, slow, "a", 0, 1024)
	wantLost(t, slow)
	stop()
	again, _ := f.Subscribe("a")
	f.Publish(piece("a", 1))
	wantPieces(t, again, "a", 1, 2)
}

func TestStopMayBeCalledOften(t *testing.T) {
	f := feed.Memory()
	before := runtime.NumGoroutine()
	for range 100 {
		var wg sync.WaitGroup
		events, stop := f.Subscribe("a")
		other, stopOther := f.Subscribe("a")
		for range 3 {
			wg.Go(stop)
			wg.Go(func() { f.Publish(changed("a")) })
		}
		wg.Wait()
		wantLost(t, events)
		f.Publish(changed("a"))
		if _, ok := take(t, other); !ok {
			t.Fatal("another subscription was stopped")
		}
		stopOther()
	}
	eventually(t, "all goroutines end", func() bool { return runtime.NumGoroutine() <= before })
}

func TestCloseClosesAllSubscriptions(t *testing.T) {
	f := feed.Memory()
	events, stop := f.Subscribe("a")
	for range 2 {
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	wantLost(t, events)
	stop()
	after, stop := f.Subscribe("a")
	f.Publish(changed("a"))
	wantSilence(t, after)
	stop()
}

func TestPublishWithoutSubscribersCostsNothing(t *testing.T) {
	f := feed.Memory()
	n := piece("a", 1)
	if got := testing.AllocsPerRun(100, func() { f.Publish(n) }); got != 0 {
		t.Errorf("%v allocations", got)
	}
}

func BenchmarkPublishWithoutSubscribers(b *testing.B) {
	f := feed.Memory()
	n := piece("a", 1)
	b.ReportAllocs()
	for b.Loop() {
		f.Publish(n)
	}
}

func BenchmarkPublishWithOtherSubscribers(b *testing.B) {
	f := feed.Memory()
	for i := range 1000 {
		f.Subscribe(fmt.Sprint(i))
	}
	n := piece("a", 1)
	b.ReportAllocs()
	for b.Loop() {
		f.Publish(n)
	}
}
