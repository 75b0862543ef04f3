package live

import (
	"context"
	"errors"
	"slices"
	"sync"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract/generation"
	"agent-stop-and-go/workflows/record"
)

const (
	// MaxUnread is how many items a reader may leave untaken.
	MaxUnread = 256
	// MaxPiece is the greatest length in bytes to which pieces of a text are joined.
	MaxPiece = 8 << 10
)

// ErrSlow ends a reader that does not keep up.
var ErrSlow = errors.New("the reader is too slow; it must begin anew")

// Item is a state, a draft, a piece of a draft or a block: exactly one of the pointers is
// set.
type Item struct {
	State *record.State // shared by all readers
	Draft *generation.Draft
	Delta *generation.Delta
	Block Block // set for readers of a shared stream, instead of the others
	// Drafts is the number of drafts that had begun: with a draft, including it; with a
	// state, at least, when it was read.
	Drafts int
}

// Name is the ID of the draft that the item belongs to, or "".
func (i Item) Name() string {
	switch {
	case i.Draft != nil:
		return i.Draft.ID
	case i.Delta != nil:
		return i.Delta.DraftID
	}
	return ""
}

// join merges two consecutive items into one if nothing is lost by it.
func (i Item) join(next Item) (Item, bool) {
	switch a, b := i.Delta, next.Delta; {
	case i.State != nil && next.State != nil:
		return next, true
	case i.Block != nil && next.Block != nil:
		joined := i.Block.Join(next.Block)
		return Item{Block: joined}, joined != nil
	case a == nil || b == nil || a.Kind == generation.Call:
		return i, false
	case a.DraftID != b.DraftID || a.Kind != b.Kind || a.Call != b.Call || len(a.Text)+len(b.Text) > MaxPiece:
		return i, false
	default:
		joined := *a
		joined.Text += b.Text
		return Item{Delta: &joined}, true
	}
}

// Append appends an item that no reader has taken, and merges it with the last one if
// possible.
func Append(items []Item, next Item) []Item {
	if n := len(items); n > 0 {
		if joined, ok := items[n-1].join(next); ok {
			items[n-1] = joined
			return items
		}
	}
	return append(items, next)
}

// Reader reads one conversation. It has no goroutine: the follower puts items into its buffer
// and wakes it, and it takes them.
type Reader struct {
	follower  *follower
	eager     bool
	committed bool
	wake      chan struct{} // capacity 1
	group     *group        // guarded by the follower's mu

	mu    sync.Mutex
	items []Item
	beat  bool
	err   error
}

func (r *Reader) put(next Item) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return
	}
	if r.items = Append(r.items, next); len(r.items) > MaxUnread {
		r.items, r.err = nil, ErrSlow
	}
	r.wakeUp()
}

// end makes err the last result of Take.
func (r *Reader) end(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
	}
	r.wakeUp()
}

func (r *Reader) keepAlive() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.beat = true
	r.wakeUp()
}

func (r *Reader) wakeUp() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Wake returns a channel that delivers when there is something to take.
func (r *Reader) Wake() <-chan struct{} { return r.wake }

// Take returns the items put since the last call, whether a keep-alive is due, and, once all
// items are taken, the error that ended the reader.
func (r *Reader) Take() (items []Item, beat bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	items, beat, err = r.items, r.beat, r.err
	r.items, r.beat = nil, false
	return items, beat, err
}

// current reports whether the reader has taken everything and has not ended.
func (r *Reader) current() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.items) == 0 && r.err == nil
}

// Ready waits until there is something to take.
func (r *Reader) Ready(ctx, base context.Context) error {
	err := r.wait(ctx, base)
	if err == nil {
		r.wakeUp()
	}
	return err
}

// wait waits for the next wake-up.
func (r *Reader) wait(ctx, base context.Context) error {
	select {
	case <-r.wake:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-base.Done():
		return service.ErrClosing
	}
}

// Await waits for a state that satisfies fulfilled. The items put in the meantime can still
// be taken; if they are too many, the last state of them.
func (r *Reader) Await(ctx, base context.Context, fulfilled func(*record.State) bool) error {
	var taken []Item
	for {
		if err := r.wait(ctx, base); err != nil {
			return err
		}
		items, _, err := r.Take()
		if err != nil {
			return err
		}
		taken = appendAll(taken, items)
		if slices.ContainsFunc(items, func(i Item) bool { return i.State != nil && fulfilled(i.State) }) {
			r.putBack(taken)
			return nil
		}
	}
}

// putBack puts taken items back in front of the others.
func (r *Reader) putBack(items []Item) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.items = appendAll(items, r.items)
	r.wakeUp()
}

// appendAll appends items that no reader has taken. If they become too many, only the last
// state is kept: finished drafts are part of it.
func appendAll(items, more []Item) []Item {
	for _, i := range more {
		items = Append(items, i)
	}
	if len(items) <= MaxUnread {
		return items
	}
	var last []Item
	for _, i := range items {
		if i.State != nil {
			last = []Item{i}
		}
	}
	return last
}
