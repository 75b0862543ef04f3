package quota_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"agent-stop-and-go/gateway/quota"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// clock is a clock that tests move.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func newClock() *clock { return &clock{at: time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)} }

var (
	alice = contract.Identity{Subject: "alice", Issuer: "keys"}
	bob   = contract.Identity{Subject: "bob", Issuer: "keys"}
)

func wantBusy(t *testing.T, err error, wait time.Duration, text string) {
	t.Helper()
	var e *service.Error
	if !errors.As(err, &e) || e.Kind != contract.KindBusy || e.RetryAfter != wait || !strings.Contains(e.Text, text) {
		t.Errorf("got %+v, want %q and to wait for %s", err, text, wait)
	}
}

func TestRequestsAreTakenAtTheirRateAfterABurst(t *testing.T) {
	c := newClock()
	q := quota.New(quota.Options{Limits: quota.Limits{Requests: 12, Burst: 3}, Now: c.now})
	take := func(caller contract.Identity) error { return q.Take(t.Context(), caller) }
	for range 3 {
		if err := take(alice); err != nil {
			t.Fatal(err)
		}
	}
	wantBusy(t, take(alice), 5*time.Second, "12 a minute, and 3 at once; try again in 5 s")
	if err := take(bob); err != nil {
		t.Errorf("another caller: %v", err)
	}
	c.add(4900 * time.Millisecond)
	wantBusy(t, take(alice), time.Second, "try again in 1 s")
	c.add(100 * time.Millisecond)
	if err := take(alice); err != nil {
		t.Errorf("after the pause: %v", err)
	}
	wantBusy(t, take(alice), 5*time.Second, "")
	c.add(time.Hour)
	for i := range 4 {
		if err := take(alice); (err == nil) != (i < 3) {
			t.Errorf("request %d of a burst: %v", i+1, err)
		}
	}
}

func TestNobodyIsLimitedWithoutLimitsOrIdentity(t *testing.T) {
	none := quota.New(quota.Options{})
	strict := quota.New(quota.Options{Limits: quota.Limits{Requests: 1, Burst: 1}})
	for range 3 {
		if none.Take(t.Context(), alice) != nil || strict.Take(t.Context(), contract.Identity{}) != nil {
			t.Error("a request was refused")
		}
	}
}

// away is a ledger that may be out of reach.
type away struct {
	*quota.Memory
	err   error
	asked int
}

func (a *away) Take(ctx context.Context, caller string, interval time.Duration, burst int) (time.Duration, error) {
	if a.asked++; a.err != nil {
		return 0, a.err
	}
	return a.Memory.Take(ctx, caller, interval, burst)
}

func TestAGatewayCountsAloneWhileTheSharedLedgerIsAway(t *testing.T) {
	c, logs := newClock(), &bytes.Buffer{}
	shared := &away{Memory: quota.NewMemory(c.now)}
	options := quota.Options{Limits: quota.Limits{Requests: 6, Burst: 2}, Shared: shared, Now: c.now, Logger: slog.New(slog.NewTextHandler(logs, nil))}
	one, two := quota.New(options), quota.New(options)
	take := func(q *quota.Quota) error { return q.Take(t.Context(), alice) }
	if take(one) != nil || take(two) != nil {
		t.Fatal("a request within the limit was refused")
	}
	wantBusy(t, take(one), 10*time.Second, "")

	shared.err, shared.asked = errors.New("connection refused"), 0
	for i := range 3 {
		if err := take(one); (err == nil) != (i < 2) {
			t.Errorf("alone, request %d: %v", i+1, err)
		}
	}
	if shared.asked != 1 {
		t.Errorf("a ledger that is away was asked %d times at once", shared.asked)
	}
	shared.err = nil
	c.add(3 * time.Second)
	wantBusy(t, take(one), 7*time.Second, "") // as counted together
	if text := logs.String(); strings.Count(text, "by this gateway alone") != 1 || strings.Count(text, "together again") != 1 {
		t.Errorf("logged %s", text)
	}
}

// conversations is a backend that has conversations at once, and a search that lags.
type conversations struct {
	service.Backend
	mu      sync.Mutex
	started map[string]bool // true if the search finds it
}

func (c *conversations) Start(_ context.Context, in service.StartInput) (service.StartResult, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, existed := c.started[in.Conversation.ID]
	if !existed {
		c.started[in.Conversation.ID] = false
	}
	return service.StartResult{Existed: existed}, nil
}

func (c *conversations) Owner(_ context.Context, id string) (service.Owner, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.started[id]; !ok {
		return service.Owner{}, service.NoConversation(id)
	}
	return service.OwnerOf(alice), nil
}

func (c *conversations) open(_ context.Context, _ string, except []string) (n int64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, found := range c.started {
		if found && !slices.Contains(except, id) {
			n++
		}
	}
	return n, nil
}

func (c *conversations) settle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id := range c.started {
		c.started[id] = true
	}
}

func begin(t *testing.T, b service.Backend, id string) error {
	t.Helper()
	_, err := b.Start(t.Context(), service.StartInput{Conversation: contract.ConversationInput{ID: id, Owner: alice}})
	return err
}

// TestOpenConversationsAreLimited starts many at once at two gateways, before the search finds any.
func TestOpenConversationsAreLimited(t *testing.T) {
	c, b := newClock(), &conversations{started: map[string]bool{}}
	options := quota.Options{Limits: quota.Limits{Conversations: 5}, Shared: quota.NewMemory(c.now), Open: b.open, Now: c.now}
	gateways := []service.Backend{quota.New(options).Backend(b), quota.New(options).Backend(b)}
	var starts sync.WaitGroup
	for i := range 40 {
		starts.Go(func() { _ = begin(t, gateways[i%2], fmt.Sprint("c", i)) })
	}
	starts.Wait()
	if n := len(b.started); n != 5 {
		t.Fatalf("%d conversations were started at once, want 5", n)
	}
	wantBusy(t, begin(t, gateways[0], "more"), 10*time.Second, "5 of your conversations are open, and a caller may have 5: close or delete one")

	b.settle()
	c.add(quota.Lag)
	wantBusy(t, begin(t, gateways[1], "more"), 10*time.Second, "")
	wantBusy(t, begin(t, gateways[0], "more"), 10*time.Second, "")
	for id := range b.started {
		if err := begin(t, gateways[0], id); err != nil {
			t.Errorf("the start of %s was repeated: %v", id, err)
		}
	}
	b.mu.Lock()
	for id := range b.started { // one is closed
		b.started[id] = false
		break
	}
	b.mu.Unlock()
	if err := begin(t, gateways[1], "more"); err != nil {
		t.Errorf("after one was closed: %v", err)
	}
}
