package live

import (
	"context"
	"reflect"
	"slices"
	"time"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
)

// readTimeout is how long a conversation may be read.
const readTimeout = 15 * time.Second

// reading is a conversation as it was read.
type reading struct {
	view contract.ConversationView
	// tree is nil for an agent that is a single node, and while it is not known;
	// treeless says which.
	tree     *contract.TreeView
	treeless bool
	state    *record.State
	same     bool // the conversation is as it was, and so is the state
	err      error
	// news: it came with news, which may lack the tree.
	news, lacksTree bool
	// drafts is how many drafts had begun when it was asked for.
	drafts int
}

// beginRead reads in the background: the follower must not be kept from passing on news.
// It listens to them first, so that nothing falls between the two.
func (x *follower) beginRead() {
	if x.news == nil && x.Feed != nil {
		x.news, x.stop = x.Feed.Subscribe(x.id)
	}
	x.busy, x.asked, x.readAt = true, false, time.Now()
	have, drafts := x.have, x.drafted
	x.inBackground(func(ctx context.Context, r *reading) error {
		r.drafts = drafts
		return x.read(ctx, have, r)
	})
}

// inBackground makes a reading in a goroutine of its own.
func (x *follower) inBackground(do func(context.Context, *reading) error) {
	x.all.flying.Go(func() {
		ctx, cancel := context.WithTimeout(x.ctx, readTimeout)
		defer cancel()
		var r reading
		if err := service.Guard(func() error { return do(ctx, &r) }); err != nil {
			r.err = err
		}
		select {
		case x.reads <- r:
		case <-x.ctx.Done():
		}
	})
}

func (x *follower) read(ctx context.Context, have reading, r *reading) (err error) {
	r.tree, r.treeless = have.tree, have.treeless
	if r.view, err = x.Conversations.Conversation(ctx, x.id, ""); err != nil {
		return err
	}
	if !r.treeless {
		if err := x.readTree(ctx, r); err != nil {
			return err
		}
	}
	if have.state != nil && reflect.DeepEqual(have.view, r.view) && reflect.DeepEqual(have.tree, r.tree) {
		r.state, r.same = have.state, true
		return nil
	}
	return x.render(ctx, r)
}

// readTree reads the tree of a composite agent. Workers of an older version have
// none, which is no reason to show nothing.
func (x *follower) readTree(ctx context.Context, r *reading) error {
	tree, err := x.Conversations.Tree(ctx, x.id)
	switch {
	case service.IsKind(err, service.KindUnavailable):
	case err != nil:
		return err
	case tree.Node.Composite():
		r.tree = &tree
	default:
		r.treeless = true
	}
	return nil
}

// Older reports whether a was true before b. A version covers what happens until the
// next one, and messages only become more.
func Older(a, b contract.ConversationView) bool {
	return a.Version < b.Version || a.Version == b.Version && a.Transcript.Len() < b.Transcript.Len()
}

// render makes the state of what was read.
func (x *follower) render(ctx context.Context, r *reading) (err error) {
	r.state, err = record.Load(ctx, x.Blobs, r.view, r.tree)
	return err
}

// accept takes what was read, unless something newer is known by now.
func (x *follower) accept(r reading) {
	known := x.have.state != nil
	switch {
	case x.ctx.Err() != nil:
	case service.IsPanic(r.err), r.err != nil && !r.news && (!known || service.IsKind(r.err, contract.KindNotFound)):
		x.giveUp(r.err)
	case r.err != nil:
		x.Logger.Warn("read a conversation that is being followed", "conversation", x.id, "error", r.err)
		x.asked = x.asked || r.news
	case known && Older(r.view, x.have.view):
		if !r.news { // others got news that are newer
			x.publishLasting(r.state)
		}
	case r.same:
		x.have.treeless = r.treeless
		x.publishLasting(r.state)
		x.confirm(r.drafts)
	default:
		x.replace(r)
	}
}

// replace makes a reading what is known.
func (x *follower) replace(r reading) {
	if r.lacksTree {
		r.tree, r.treeless = x.have.tree, x.have.treeless
		if x.have.state != nil {
			state := *r.state
			state.Tree = x.have.state.Tree
			state = state.WithMemo()
			r.state = &state
		}
	}
	x.have = r
	x.publish(r)
	if !r.news {
		x.publishLasting(r.state)
	}
}

// receiveSettled takes a conversation that came with news. What lacks in it is read.
func (x *follower) receiveSettled(n contract.Event) {
	if x.have.state != nil && Older(*n.Settled, x.have.view) {
		return
	}
	r := reading{
		view: *n.Settled, tree: x.have.tree, treeless: x.have.treeless, news: true,
		lacksTree: n.Tree == nil,
	}
	if n.Tree != nil {
		r.treeless = !n.Tree.Node.Composite()
	}
	if n.Tree != nil && !r.treeless {
		r.tree = n.Tree
	}
	x.asked, x.readAt = !r.treeless && n.Tree == nil, time.Now()
	if x.settling {
		x.settled = &r
	} else {
		x.renderSettled(r)
	}
}

// renderSettled makes what came ready in the background. One is after the other, and of
// those that come meanwhile only the last.
func (x *follower) renderSettled(r reading) {
	x.settling = true
	x.inBackground(func(ctx context.Context, out *reading) error {
		*out = r
		return x.render(ctx, out)
	})
}

// finish takes a reading that was made in the background.
func (x *follower) finish(r reading) {
	if !r.news {
		x.busy = false
		x.accept(r)
		return
	}
	x.accept(r)
	if next := x.settled; next != nil {
		x.settled = nil
		x.renderSettled(*next)
		return
	}
	x.settling = false
	for _, i := range x.later {
		x.pass(i)
	}
	x.later = nil
}

// comesLater reports whether a piece is of a draft that began behind what is being settled:
// that would end it.
func (x *follower) comesLater(i Item) bool {
	return x.settling && (i.Draft != nil || slices.ContainsFunc(x.later, func(o Item) bool { return o.Name() == i.Name() }))
}
