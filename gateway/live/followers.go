package live

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/transcript"
)

// Feed delivers what is new in conversations while it happens.
type Feed interface {
	// Subscribe delivers the news of a conversation until stop is called. The channel is
	// closed when something may have been lost: read the conversation and watch again.
	Subscribe(conversationID string) (news <-chan contract.Event, stop func())
}

// Pace is how those who follow conversations are served. A zero is the default.
type Pace struct {
	// Running and Idle are the times between two reads of a conversation that is
	// being followed, while it runs and while it does not.
	Running time.Duration
	Idle    time.Duration
	// Again is the least time between two reads that news ask for.
	Again time.Duration
	// KeepAlive is the time between two signs of life in a stream.
	KeepAlive time.Duration
}

// WithDefaults is the pace with every zero replaced.
func (p Pace) WithDefaults() Pace {
	p.Running = orElse(p.Running, time.Second)
	p.Idle = orElse(p.Idle, 5*time.Second)
	p.Again = orElse(p.Again, 150*time.Millisecond)
	p.KeepAlive = orElse(p.KeepAlive, 15*time.Second)
	return p
}

func orElse(d, other time.Duration) time.Duration {
	if d <= 0 {
		return other
	}
	return d
}

// Conversations are read.
type Conversations interface {
	Conversation(ctx context.Context, conversationID, requestID string) (contract.ConversationView, error)
	Tree(ctx context.Context, conversationID string) (contract.TreeView, error)
}

// Options are what followers need.
type Options struct {
	Conversations Conversations
	Blobs         transcript.Store
	// Feed is nil where there is none; then readers see what lasts of the news.
	Feed   Feed
	Pace   Pace
	Logger *slog.Logger
}

// Followers has one follower for each conversation that somebody reads.
type Followers struct {
	Options
	base context.Context

	mu     sync.Mutex
	closed bool
	byID   map[string]*follower
	flying sync.WaitGroup
}

// New makes followers that work until base ends.
func New(base context.Context, o Options) *Followers {
	o.Pace = o.Pace.WithDefaults()
	return &Followers{Options: o, base: base, byID: map[string]*follower{}}
}

// Join returns a reader that gets the conversation as it is and then what happens
// in it. An eager one expects something to happen. Every reader must leave.
func (w *Followers) Join(conversationID string, eager bool) (*Reader, error) {
	return w.join(conversationID, &Reader{eager: eager})
}

// JoinLasting is Join for a reader that gets only what was read. A conversation that comes
// with news is not in its history yet, and may come to something else there.
func (w *Followers) JoinLasting(conversationID string, eager bool) (*Reader, error) {
	return w.join(conversationID, &Reader{eager: eager, lasting: true})
}

func (w *Followers) join(conversationID string, r *Reader) (*Reader, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.base.Err() != nil {
		return nil, service.ErrClosing
	}
	x := w.byID[conversationID]
	if x == nil {
		x = newFollower(w, conversationID)
		w.byID[conversationID] = x
		w.flying.Go(x.run)
	}
	r.follower, r.wake = x, make(chan struct{}, 1)
	x.add(r)
	return r, nil
}

// Leave ends the follower after its last reader.
func (w *Followers) Leave(r *Reader) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if x := r.follower; x.remove(r) == 0 {
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

// Close starts no more followers and returns when none is left. The base context
// must have ended.
func (w *Followers) Close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.flying.Wait()
}
