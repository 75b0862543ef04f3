package quota

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// Limits are those of one caller.
type Limits struct {
	// Requests is how many a caller may send in a minute, in the long run, and Burst how many at
	// once. 0 sets no limit.
	Requests, Burst int
	// Conversations is how many of a caller may be open at a time. 0 sets no limit.
	Conversations int
}

// interval is the time between two requests in the long run.
func (l Limits) interval() time.Duration { return time.Minute / time.Duration(l.Requests) }

// Ledger has what gateways know of callers.
type Ledger interface {
	// Take counts a request of a caller, or returns how long the caller must wait before one is
	// taken. Burst requests are taken at once, and another one after each interval.
	Take(ctx context.Context, caller string, interval time.Duration, burst int) (wait time.Duration, err error)
	// Begin notes for some seconds that a caller starts a conversation, or reports that it is
	// noted already. It returns the IDs of those that the caller began before it, as long as they
	// are noted.
	Begin(ctx context.Context, caller, id string) (before []string, known bool, err error)
	// Withdraw deletes the note of a conversation.
	Withdraw(ctx context.Context, caller, id string) error
}

// Options are the dependencies of a Quota.
type Options struct {
	Limits Limits
	// Shared is the ledger of all gateways, or nil.
	Shared Ledger
	// Open counts the open conversations of an owner, by its key, except those with these IDs. It
	// may lag by less than Lag.
	Open   func(ctx context.Context, owner string, except []string) (int64, error)
	Logger *slog.Logger
	// Now is time.Now by default.
	Now func() time.Time
}

// Quota is safe for concurrent use. A nil one limits nothing.
type Quota struct {
	Options
	local *Memory

	mu       sync.Mutex
	failedAt time.Time // when the shared ledger failed last
	failing  bool
}

// New returns nil if there are no limits.
func New(o Options) *Quota {
	if o.Limits.Requests == 0 && o.Limits.Conversations == 0 {
		return nil
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return &Quota{Options: o, local: NewMemory(o.Now)}
}

// Take counts a request, or fails with KindBusy if the caller sends too many.
func (q *Quota) Take(ctx context.Context, caller contract.Identity) error {
	if q == nil || q.Limits.Requests == 0 || !caller.Authenticated() {
		return nil
	}
	var wait time.Duration
	err := q.ask(ctx, func(ctx context.Context, l Ledger) (err error) {
		wait, err = l.Take(ctx, caller.Key(), q.Limits.interval(), q.Limits.Burst)
		return err
	})
	if err != nil || wait <= 0 {
		return err
	}
	return service.Busy(wait, "you have sent too many requests: a caller may send %d a minute, and %d at once", q.Limits.Requests, q.Limits.Burst)
}

const (
	// sharedTimeout is how long the shared ledger may take, and sharedPause how long it is not
	// asked after it failed: it must not slow down every request.
	sharedTimeout = 250 * time.Millisecond
	sharedPause   = 2 * time.Second
)

// ask asks the shared ledger, or that of this gateway.
func (q *Quota) ask(ctx context.Context, question func(context.Context, Ledger) error) error {
	if q.usesShared() {
		short, cancel := context.WithTimeout(ctx, sharedTimeout)
		defer cancel()
		err := question(short, q.Shared)
		if err == nil || ctx.Err() != nil {
			q.observe(nil)
			return ctx.Err()
		}
		q.observe(err)
	}
	return question(ctx, q.local)
}

func (q *Quota) usesShared() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.Shared != nil && q.Now().Sub(q.failedAt) >= sharedPause
}

// observe logs the beginning and the end of an outage.
func (q *Quota) observe(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err != nil {
		q.failedAt = q.Now()
	}
	switch {
	case err != nil && !q.failing:
		q.Logger.Warn("the limits of callers are counted by this gateway alone", "problem", err)
	case err == nil && q.failing:
		q.Logger.Info("the limits of callers are counted by all gateways together again")
	}
	q.failing = err != nil
}
