package gateway

import (
	"context"
	"sync"
	"time"

	"agent-stop-and-go/workflows/contract"
)

// Feed tells what is new in conversations while it happens.
type Feed interface {
	// Watch delivers the news of a conversation until stop is called. The channel is
	// closed when something may have been lost: read the conversation and watch again.
	Watch(conversationID string) (news <-chan contract.News, stop func())
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

func (p Pace) withDefaults() Pace {
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

// watches has one watcher for each conversation that somebody follows.
type watches struct {
	base context.Context
	Deps
	// lasting: readers are told what was read only. A conversation that comes with news
	// is not in its history yet, and may come to something else there.
	lasting bool

	mu     sync.Mutex
	closed bool
	byID   map[string]*watcher
	flying sync.WaitGroup
}

func newWatches(base context.Context, d Deps) *watches {
	return &watches{base: base, Deps: d, byID: map[string]*watcher{}}
}

// join returns a reader that is told how the conversation is and then what happens
// in it. An eager one expects something to happen. Every reader must leave.
func (w *watches) join(conversationID string, eager bool) (*reader, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.base.Err() != nil {
		return nil, errClosing
	}
	x := w.byID[conversationID]
	if x == nil {
		x = newWatcher(w, conversationID)
		w.byID[conversationID] = x
		w.flying.Go(x.run)
	}
	return x.add(eager), nil
}

// leave ends the watcher after its last reader.
func (w *watches) leave(r *reader) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if x := r.watcher; x.remove(r) == 0 {
		w.retire(x)
	}
}

// giveUp ends a watcher whose conversation cannot be read.
func (w *watches) giveUp(x *watcher, err error) {
	w.mu.Lock()
	w.retire(x)
	w.mu.Unlock()
	x.fail(err)
}

func (w *watches) retire(x *watcher) {
	x.cancel()
	if w.byID[x.id] == x {
		delete(w.byID, x.id)
	}
}

// close starts no more watchers and returns when none is left. The base context
// must have ended.
func (w *watches) close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.flying.Wait()
}
