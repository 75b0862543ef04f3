package lease_test

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"agent-stop-and-go/config/feed/feedtest"
	"agent-stop-and-go/config/lease"
)

const lifetime = 300 * time.Millisecond

func open(t *testing.T, s *feedtest.Server, purpose string) *lease.Lease {
	t.Helper()
	l, err := lease.Open(s.URL(), "agent", purpose, lifetime, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// holder counts how many hold a lease at a time.
type holder struct {
	now, most, times atomic.Int32
}

func (h *holder) hold(ctx context.Context) {
	n := h.now.Add(1)
	for most := h.most.Load(); n > most && !h.most.CompareAndSwap(most, n); most = h.most.Load() {
	}
	h.times.Add(1)
	<-ctx.Done()
	h.now.Add(-1)
}

func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(what)
		}
	}
}

func TestOneHoldsTheLeaseAndAnotherOneAfterIt(t *testing.T) {
	s := feedtest.NewServer(t, "secret")
	var h holder
	var all sync.WaitGroup
	first, stopFirst := context.WithCancel(t.Context())
	second, stopSecond := context.WithCancel(t.Context())
	defer stopSecond()
	a, b := open(t, s, "x"), open(t, s, "x")
	all.Go(func() { a.Hold(first, h.hold) })
	await(t, "nobody holds it", func() bool { return h.now.Load() == 1 })
	all.Go(func() { b.Hold(second, h.hold) })
	time.Sleep(2 * lifetime) // it is renewed
	if h.now.Load() != 1 || h.times.Load() != 1 {
		t.Fatalf("%d hold it, %d times", h.now.Load(), h.times.Load())
	}
	stopFirst()
	await(t, "the second does not get it", func() bool { return h.times.Load() == 2 && h.now.Load() == 1 })
	stopSecond()
	all.Wait()
	if h.most.Load() != 1 {
		t.Errorf("%d held it at once", h.most.Load())
	}
}

func TestOtherPurposesAreOtherLeases(t *testing.T) {
	s := feedtest.NewServer(t, "secret")
	var h holder
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for _, purpose := range []string{"x", "y"} {
		l := open(t, s, purpose)
		all.Go(func() { l.Hold(ctx, h.hold) })
	}
	await(t, "both hold theirs", func() bool { return h.now.Load() == 2 })
	stop()
	all.Wait()
}

func TestAHolderWithoutRedisStops(t *testing.T) {
	s := feedtest.NewServer(t, "secret")
	var h holder
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	l := open(t, s, "x")
	all.Go(func() { l.Hold(ctx, h.hold) })
	await(t, "nobody holds it", func() bool { return h.now.Load() == 1 })
	began := time.Now()
	s.Kill()
	await(t, "it goes on without Redis", func() bool { return h.now.Load() == 0 })
	if took := time.Since(began); took > 10*lifetime {
		t.Errorf("it stopped after %s", took)
	}
	stop()
	all.Wait()
}

func TestTheAddressOfRedisIsNotShown(t *testing.T) {
	if _, err := lease.Open("http://user:secret@x", "a", "x", 0, nil); err != lease.ErrURL {
		t.Errorf("got %v", err)
	}
}
