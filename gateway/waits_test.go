package gateway_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// talk is a conversation that settles requests when the test says so.
type talk struct {
	mu      sync.Mutex
	settled map[string]bool
	changed chan struct{}
	flights [][]string
	most    int // greatest number of updates in flight
	now     int
	order   []string // requests in the order in which they were sent
}

func newTalk() *talk { return &talk{settled: map[string]bool{}, changed: make(chan struct{})} }

func (k *talk) signal(_, _ string, payload any) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	m, _ := payload.(contract.MessageSignal)
	k.order = append(k.order, m.RequestID)
	return nil
}

func (k *talk) await(ctx context.Context, id string, ids []string) (contract.AwaitResult, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.flights = append(k.flights, ids)
	k.now++
	defer func() { k.now-- }()
	k.most = max(k.most, k.now)
	for {
		out := contract.AwaitResult{Conversation: viewOf(id)}
		for _, rid := range ids {
			if k.settled[rid] {
				out.Settled = append(out.Settled, contract.Request{ID: rid, Settled: true, Result: &contract.Result{Response: contract.Inline(rid)}})
			}
		}
		if len(out.Settled) > 0 {
			return out, nil
		}
		changed := k.changed
		k.mu.Unlock()
		select {
		case <-changed:
			k.mu.Lock()
		case <-ctx.Done():
			k.mu.Lock()
			return out, fmt.Errorf("%w: %w", service.ErrAgain, ctx.Err())
		}
	}
}

func (k *talk) settle(ids ...string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, id := range ids {
		k.settled[id] = true
	}
	close(k.changed)
	k.changed = make(chan struct{})
}

func TestFiftyClientsShareTwoUpdates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newTalk()
		a := newAPI(t, &fakeBackend{SignalFn: k.signal, AwaitFn: k.await})
		replies := make([]reply, 50)
		var all sync.WaitGroup
		for i := range replies {
			all.Go(func() { replies[i] = a.do("POST", messages, fmt.Sprintf(`{"message":"m%d"}`, i)) })
		}
		synctest.Wait()
		for _, rid := range k.order { // in order, as a conversation does
			k.settle(rid)
			synctest.Wait()
		}
		all.Wait()
		var answered []string
		for _, r := range replies {
			a.want(200, r)
			answered = append(answered, r.text("result", "response"))
		}
		slices.Sort(answered)
		if len(slices.Compact(answered)) != 50 {
			t.Errorf("%d different answers for 50 requests", len(slices.Compact(answered)))
		}
		if k.most > 2 || len(k.flights) > 52 {
			t.Errorf("%d updates, %d at a time", len(k.flights), k.most)
		}
		a.Close()
	})
}

func TestClientsThatRepeatARequestShareItsAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newTalk()
		a := newAPI(t, &fakeBackend{SignalFn: k.signal, AwaitFn: k.await})
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() { a.want(200, a.do("POST", messages, `{"message":"m"}`, "Idempotency-Key: k")) })
		}
		synctest.Wait()
		k.settle(k.order[0])
		all.Wait()
		if len(k.flights) != 1 {
			t.Errorf("%d updates for one request", len(k.flights))
		}
		a.Close()
	})
}

func TestADisconnectedClientBlocksNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newTalk()
		a := newAPI(t, &fakeBackend{SignalFn: k.signal, AwaitFn: k.await})
		ctx, leave := context.WithCancel(context.Background())
		var all sync.WaitGroup
		all.Go(func() {
			const body = `{"message":"leaves"}`
			if r := a.send(newRequest("POST", messages, body).WithContext(ctx), body); r.status != 499 {
				t.Errorf("status %d", r.status)
			}
		})
		synctest.Wait()
		leave()
		all.Wait()
		all.Go(func() { a.want(200, a.do("POST", messages, `{"message":"stays"}`)) })
		synctest.Wait()
		k.settle(k.order[1])
		all.Wait()
		if len(k.order) != 2 {
			t.Errorf("%d messages were sent; both must be", len(k.order))
		}
		a.Close()
	})
}

func TestAwaitIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []time.Duration
		start := time.Now()
		var m mailbox
		a := newAPI(t, &fakeBackend{SignalFn: m.signal})
		a.backend.AwaitFn = func(ctx context.Context, id string, ids []string) (contract.AwaitResult, error) {
			asked = append(asked, time.Since(start))
			switch len(asked) {
			case 1:
				return contract.AwaitResult{}, fmt.Errorf("%w: the worker restarts", service.ErrAgain)
			case 2:
				return contract.AwaitResult{Conversation: viewOf(id)}, nil // nothing settled
			case 3:
				return contract.AwaitResult{}, fmt.Errorf("%w: too many updates", service.ErrAgain)
			}
			return answering("at last")(ctx, id, ids)
		}
		a.want(200, a.do("POST", messages, `{"message":"m"}`))
		want := []time.Duration{0, 10 * time.Millisecond, 30 * time.Millisecond, 70 * time.Millisecond}
		if diff := cmp.Diff(want, asked); diff != "" {
			t.Error(diff)
		}
		a.Close()
	})
}

func TestADeadlineEndsRepeatedAwaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		var m mailbox
		a := newAPI(t, &fakeBackend{SignalFn: m.signal})
		a.backend.AwaitFn = func(context.Context, string, []string) (contract.AwaitResult, error) {
			asked++
			return contract.AwaitResult{}, service.ErrAgain
		}
		start := time.Now()
		a.want(202, a.do("POST", messages, `{"message":"m"}`))
		if took := time.Since(start); took != time.Minute {
			t.Errorf("took %s", took)
		}
		if asked > 70 {
			t.Errorf("asked %d times in a minute", asked)
		}
		a.Close()
	})
}

func TestALaterClientSurvivesTheEndOfItsUpdate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newTalk()
		a := newAPI(t, &fakeBackend{SignalFn: k.signal, AwaitFn: k.await})
		var all sync.WaitGroup
		const key = "Idempotency-Key: k"
		all.Go(func() { a.want(202, a.do("POST", messages, `{"message":"m"}`, key)) })
		time.Sleep(30 * time.Second)
		all.Go(func() { a.want(200, a.do("POST", messages, `{"message":"m"}`, key)) })
		time.Sleep(40 * time.Second)
		synctest.Wait()
		k.settle(k.order[0])
		all.Wait()
		a.Close()
	})
}

func TestAFailureReachesAllWaiters(t *testing.T) {
	var m mailbox
	a := newAPI(t, &fakeBackend{SignalFn: m.signal})
	a.backend.AwaitFn = func(_ context.Context, id string, _ []string) (contract.AwaitResult, error) {
		return contract.AwaitResult{}, service.Errorf(contract.KindNotFound, "conversation not found: %s", id)
	}
	a.wantError(404, "conversation not found", a.do("POST", messages, `{"message":"m"}`))
}
