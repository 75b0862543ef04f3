package gateway

import (
	"context"
	"errors"
	"slices"
	"sync"

	"agent-stop-and-go/gateway/agui"
	"agent-stop-and-go/workflows/contract"
)

const (
	maxUnread = 256     // items that a reader has not taken yet
	maxPiece  = 8 << 10 // bytes up to which deltas are joined
)

var errSlow = errors.New("the reader is too slow; it must begin anew")

// item is one thing that a reader is told; one of the pointers is set.
type item struct {
	state *agui.State // shared by all readers
	draft *contract.Draft
	delta *contract.Delta
	block *block // of a course, instead of the others
	// drafts is, of a draft, how many had begun with it; of a state, how many at least
	// had begun when it was read.
	drafts int
}

// name is the draft that a piece is of.
func (i item) name() string {
	switch {
	case i.draft != nil:
		return i.draft.Name
	case i.delta != nil:
		return i.delta.Draft
	}
	return ""
}

// join makes one item of two, when the second takes up what the first says.
func (i item) join(next item) (item, bool) {
	switch a, b := i.delta, next.delta; {
	case i.state != nil && next.state != nil:
		return next, true
	case i.block != nil && next.block != nil:
		joined := i.block.join(next.block)
		return item{block: joined}, joined != nil
	case a == nil || b == nil || a.Kind == contract.DeltaCall:
		return i, false
	case a.Draft != b.Draft || a.Kind != b.Kind || a.Call != b.Call || len(a.Text)+len(b.Text) > maxPiece:
		return i, false
	default:
		joined := *a
		joined.Text += b.Text
		return item{delta: &joined}, true
	}
}

// added appends an item to those that nobody has seen yet.
func added(items []item, next item) []item {
	if n := len(items); n > 0 {
		if joined, ok := items[n-1].join(next); ok {
			items[n-1] = joined
			return items
		}
	}
	return append(items, next)
}

// reader is one who follows a conversation. It has no goroutine of its own: it is
// told things, and takes them when it wakes.
type reader struct {
	watcher *watcher
	eager   bool
	wake    chan struct{} // has room for one
	course  *course       // the watcher's mu guards it

	mu    sync.Mutex
	items []item
	beat  bool
	err   error
}

func (r *reader) tell(next item) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return
	}
	if r.items = added(r.items, next); len(r.items) > maxUnread {
		r.items, r.err = nil, errSlow
	}
	r.rouse()
}

// end makes err the last thing that the reader learns.
func (r *reader) end(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
	}
	r.rouse()
}

func (r *reader) keepAlive() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.beat = true
	r.rouse()
}

func (r *reader) rouse() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// take returns what the reader was told since it last asked, whether it should
// give a sign of life, and, after everything else, why nothing more will come.
func (r *reader) take() (items []item, beat bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	items, beat, err = r.items, r.beat, r.err
	r.items, r.beat = nil, false
	return items, beat, err
}

// current reports whether the reader has taken all that it was told.
func (r *reader) current() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.items) == 0 && r.err == nil
}

// ready returns when there is something to take.
func (r *reader) ready(ctx, base context.Context) error {
	err := r.wait(ctx, base)
	if err == nil {
		r.rouse()
	}
	return err
}

// wait returns when the reader should take what there is.
func (r *reader) wait(ctx, base context.Context) error {
	select {
	case <-r.wake:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-base.Done():
		return errClosing
	}
}

// await returns when a state fulfils a condition. What the reader was told meanwhile
// is there to be taken, or the last state of it.
func (r *reader) await(ctx, base context.Context, fulfilled func(*agui.State) bool) error {
	var told []item
	for {
		if err := r.wait(ctx, base); err != nil {
			return err
		}
		items, _, err := r.take()
		if err != nil {
			return err
		}
		told = together(told, items)
		if slices.ContainsFunc(items, func(i item) bool { return i.state != nil && fulfilled(i.state) }) {
			r.putBack(told)
			return nil
		}
	}
}

// putBack lets the reader take again what it was told first.
func (r *reader) putBack(items []item) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.items = together(items, r.items)
	r.rouse()
}

// together appends what nobody has seen yet. Where it would be too much the pieces are
// forgotten: what lasts of them is in a state.
func together(items, more []item) []item {
	for _, i := range more {
		items = added(items, i)
	}
	if len(items) <= maxUnread {
		return items
	}
	var last []item
	for _, i := range items {
		if i.state != nil {
			last = []item{i}
		}
	}
	return last
}
