package live

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/transcript"
	"agent-stop-and-go/workflows/telemetry"
)

// Feed publishes the events of conversations.
type Feed interface {
	// Subscribe returns the events of a conversation until stop is called. The channel is
	// closed when an event may have been lost: read the conversation and subscribe again.
	Subscribe(conversationID string) (events <-chan contract.Event, stop func())
}

// Pace configures the intervals. Zero fields get defaults.
type Pace struct {
	// Running and Idle are the times between two reads of a conversation, while a turn runs
	// and while none does.
	Running time.Duration
	Idle    time.Duration
	// Again is the least time between two reads that events ask for.
	Again time.Duration
	// KeepAlive is the time between two keep-alive signals to a reader.
	KeepAlive time.Duration
	// Linger is how long the unfinished reply of a conversation is kept after its last reader,
	// who may have lost the connection only.
	Linger time.Duration
	// Patience is how long the first read of a conversation is tried again for eager readers, who have
	// sent something, while nothing answers.
	Patience time.Duration
}

// WithDefaults returns the pace with the defaults for zero fields.
func (p Pace) WithDefaults() Pace {
	p.Running = orElse(p.Running, time.Second)
	p.Idle = orElse(p.Idle, 5*time.Second)
	p.Again = orElse(p.Again, 150*time.Millisecond)
	p.KeepAlive = orElse(p.KeepAlive, 15*time.Second)
	p.Linger = orElse(p.Linger, 30*time.Second)
	p.Patience = orElse(p.Patience, readTimeout)
	return p
}

func orElse(d, other time.Duration) time.Duration {
	if d <= 0 {
		return other
	}
	return d
}

// Conversations reads conversations.
type Conversations interface {
	Conversation(ctx context.Context, conversationID, requestID string) (contract.ConversationView, error)
	Tree(ctx context.Context, conversationID string) (contract.TreeView, error)
}

// Options are the dependencies of Followers.
type Options struct {
	Conversations Conversations
	Blobs         transcript.Store
	// See fails if the caller in ctx may not see a conversation. Nil: everybody sees all.
	See func(ctx context.Context, conversationID string) error
	// Feed may be nil: readers then get only states that were read.
	Feed   Feed
	Pace   Pace
	Logger *slog.Logger
}

// Followers keeps one follower for each conversation that has readers.
type Followers struct {
	Options
	base context.Context

	mu         sync.Mutex
	closed     bool
	byID       map[string]*follower
	goroutines sync.WaitGroup
}

// New returns followers that work until base ends.
func New(base context.Context, o Options) *Followers {
	o.Pace = o.Pace.WithDefaults()
	return &Followers{Options: o, base: base, byID: map[string]*follower{}}
}

// Join returns a reader that gets the current state of the conversation and then every
// change. An eager reader expects a change soon, so the conversation is read more often.
// Every reader must be given to Leave. Whether the caller may see the conversation is checked
// here only: what a follower reads, it reads for all its readers.
func (w *Followers) Join(ctx context.Context, conversationID string, eager bool) (*Reader, error) {
	return w.join(ctx, conversationID, &Reader{eager: eager})
}

// JoinCommitted is Join for a reader that gets only states that were read. A state that comes
// with an event is not in the history yet, and the history may turn out different.
func (w *Followers) JoinCommitted(ctx context.Context, conversationID string, eager bool) (*Reader, error) {
	return w.join(ctx, conversationID, &Reader{eager: eager, committed: true})
}

func (w *Followers) join(ctx context.Context, conversationID string, r *Reader) (*Reader, error) {
	if w.See != nil {
		if err := w.See(ctx, conversationID); err != nil {
			return nil, err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.base.Err() != nil {
		return nil, service.ErrClosing
	}
	x := w.byID[conversationID]
	if x == nil {
		x = newFollower(w, conversationID)
		w.byID[conversationID] = x
		w.goroutines.Go(x.run)
	}
	if x.lingers != nil {
		x.lingers.Stop()
	}
	r.follower, r.wake = x, make(chan struct{}, 1)
	x.add(r)
	telemetry.Readers(1)
	return r, nil
}

// Starter starts conversations.
type Starter interface {
	Start(context.Context, service.Caller, service.NewConversation) (service.StartedConversation, error)
}

// Start has a conversation started, and receives its events from before that on: the beginning of
// its first reply is kept for those who join soon, however early it comes.
func (w *Followers) Start(ctx context.Context, by Starter, caller service.Caller, in service.NewConversation) (service.StartedConversation, error) {
	x := newFollower(w, in.ConversationID)
	x.reserved = true
	x.subscribe()
	if !w.reserve(x) {
		x.stop()
		x.cancel()
		return by.Start(ctx, caller, in)
	}
	out, err := by.Start(ctx, caller, in)
	w.settle(x, err == nil)
	return out, err
}

// settle ends a follower that nobody has joined: a while after its conversation has started, and at
// once if that has not.
func (w *Followers) settle(x *follower, started bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case !x.isReserved():
	case started:
		x.lingers = time.AfterFunc(w.Pace.Linger, func() { w.abandon(x) })
	default:
		w.retire(x)
	}
}

// reserve adds a follower without readers. It reports whether the conversation had none.
func (w *Followers) reserve(x *follower) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.base.Err() != nil || w.byID[x.id] != nil {
		return false
	}
	w.byID[x.id] = x
	w.goroutines.Go(x.run)
	return true
}

// Leave removes a reader. The follower ends with its last reader or, while a reply is written, a
// while after: whoever reads on then needs its beginning.
func (w *Followers) Leave(r *Reader) {
	w.mu.Lock()
	defer w.mu.Unlock()
	telemetry.Readers(-1)
	x := r.follower
	switch {
	case x.remove(r) > 0:
	case x.drafting():
		x.lingers = time.AfterFunc(w.Pace.Linger, func() { w.abandon(x) })
	default:
		w.retire(x)
	}
}

// abandon ends a follower that still has no reader.
func (w *Followers) abandon(x *follower) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if x.empty() {
		w.retire(x)
	}
}

// giveUp ends a follower whose conversation cannot be read.
func (w *Followers) giveUp(x *follower, err error) {
	w.mu.Lock()
	w.retire(x)
	w.mu.Unlock()
	x.fail(err)
}

func (w *Followers) retire(x *follower) {
	x.cancel()
	if w.byID[x.id] == x {
		delete(w.byID, x.id)
	}
}

// Close refuses new readers and waits for all goroutines. The base context must have ended.
func (w *Followers) Close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.goroutines.Wait()
}
