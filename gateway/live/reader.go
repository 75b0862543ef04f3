package live

import (
	"context"
	"errors"
	"slices"
	"sync"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
)

const (
	// MaxUnread is how many items a reader may not have taken yet.
	MaxUnread = 256
	// MaxPiece is up to how many bytes pieces of a text are joined.
	MaxPiece = 8 << 10
)

// ErrSlow is what a reader gets who does not keep up.
var ErrSlow = errors.New("the reader is too slow; it must begin anew")

// Item is one thing that a reader gets; one of the pointers is set.
type Item struct {
	State *record.State // shared by all readers
	Draft *contract.Draft
	Delta *contract.Delta
	Block Block // of a shared stream, instead of the others
	// Drafts is, of a draft, how many had begun with it; of a state, how many at least
	// had begun when it was read.
	Drafts int
}

// Name is the draft that a piece is of.
func (i Item) Name() string {
	switch {
	case i.Draft != nil:
		return i.Draft.ID
	case i.Delta != nil:
		return i.Delta.DraftID
	}
	return ""
}

// join makes one item of two, when the second takes up what the first says.
func (i Item) join(next Item) (Item, bool) {
	switch a, b := i.Delta, next.Delta; {
	case i.State != nil && next.State != nil:
		return next, true
	case i.Block != nil && next.Block != nil:
		joined := i.Block.Join(next.Block)
		return Item{Block: joined}, joined != nil
	case a == nil || b == nil || a.Kind == contract.DeltaCall:
		return i, false
	case a.DraftID != b.DraftID || a.Kind != b.Kind || a.Call != b.Call || len(a.Text)+len(b.Text) > MaxPiece:
		return i, false
	default:
		joined := *a
		joined.Text += b.Text
		return Item{Delta: &joined}, true
	}
}

// Append appends an item to those that nobody has seen yet.
func Append(items []Item, next Item) []Item {
	if n := len(items); n > 0 {
		if joined, ok := items[n-1].join(next); ok {
			items[n-1] = joined
			return items
		}
	}
	return append(items, next)
}

// Reader is one who follows a conversation. It has no goroutine of its own: it is
// given items, and takes them when it wakes.
type Reader struct {
	follower *follower
	eager    bool
	lasting  bool
	wake     chan struct{} // has room for one
	group    *group        // the follower's mu guards it

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

// end makes err the last thing that the reader learns.
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

// Wake delivers when there is something to take.
func (r *Reader) Wake() <-chan struct{} { return r.wake }

// Take returns what the reader was given since it last asked, whether it should
// give a sign of life, and, after everything else, why nothing more will come.
func (r *Reader) Take() (items []Item, beat bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	items, beat, err = r.items, r.beat, r.err
	r.items, r.beat = nil, false
	return items, beat, err
}

// current reports whether the reader has taken all that it was given.
func (r *Reader) current() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.items) == 0 && r.err == nil
}

// Ready returns when there is something to take.
func (r *Reader) Ready(ctx, base context.Context) error {
	err := r.wait(ctx, base)
	if err == nil {
		r.wakeUp()
	}
	return err
}

// wait returns when the reader should take what there is.
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

// Await returns when a state fulfils a condition. What the reader was given meanwhile
// is there to be taken, or the last state of it.
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

// putBack lets the reader take again what it was given first.
func (r *Reader) putBack(items []Item) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.items = appendAll(items, r.items)
	r.wakeUp()
}

// appendAll appends what nobody has seen yet. Where it would be too much the pieces are
// forgotten: what lasts of them is in a state.
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
