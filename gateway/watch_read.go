package gateway

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"

	"agent-stop-and-go/gateway/agui"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/document"
	"agent-stop-and-go/workflows/contract/transcript"
)

// reading is a conversation as it was read.
type reading struct {
	view contract.ConversationView
	// tree is nil for an agent that is a single node, and while it is not known;
	// treeless tells which.
	tree     *contract.TreeView
	treeless bool
	state    *agui.State // nil when the conversation is as it was
	err      error
	// news: it came with news, which may lack the tree.
	news, lacksTree bool
	// drafts is how many drafts had begun when it was asked for.
	drafts int
}

// beginRead reads beside the watcher, which must not be kept from passing on news.
// It listens to them first, so that nothing falls between the two.
func (x *watcher) beginRead() {
	if x.news == nil && x.Feed != nil {
		x.news, x.stop = x.Feed.Watch(x.id)
	}
	x.busy, x.asked, x.readAt = true, false, time.Now()
	have, drafts := x.have, x.drafted
	x.beside(func(ctx context.Context, r *reading) error {
		r.drafts = drafts
		return x.read(ctx, have, r)
	})
}

// beside makes a reading in a goroutine of its own.
func (x *watcher) beside(do func(context.Context, *reading) error) {
	x.all.flying.Go(func() {
		ctx, cancel := context.WithTimeout(x.ctx, loadTimeout)
		defer cancel()
		var r reading
		if err := guarded(func() error { return do(ctx, &r) }); err != nil {
			r.err = err
		}
		select {
		case x.reads <- r:
		case <-x.ctx.Done():
		}
	})
}

func (x *watcher) read(ctx context.Context, have reading, r *reading) (err error) {
	r.tree, r.treeless = have.tree, have.treeless
	if r.view, err = x.Backend.Conversation(ctx, x.id, ""); err != nil {
		return err
	}
	if !r.treeless {
		if err := x.readTree(ctx, r); err != nil {
			return err
		}
	}
	if have.state != nil && reflect.DeepEqual(have.view, r.view) && reflect.DeepEqual(have.tree, r.tree) {
		return nil
	}
	return x.render(ctx, r)
}

// readTree reads the tree of a composite agent. Workers of an older version have
// none, which is no reason to show nothing.
func (x *watcher) readTree(ctx context.Context, r *reading) error {
	tree, err := x.Backend.Tree(ctx, x.id)
	switch {
	case isKind(err, KindUnavailable):
	case err != nil:
		return err
	case tree.Node.Composite():
		r.tree = &tree
	default:
		r.treeless = true
	}
	return nil
}

// older reports whether a was true before b. A version covers what happens until the
// next one, and messages only become more.
func older(a, b contract.ConversationView) bool {
	return a.Version < b.Version || a.Version == b.Version && a.Transcript.Len() < b.Transcript.Len()
}

// render makes the state of what was read.
func (x *watcher) render(ctx context.Context, r *reading) error {
	state, err := stateOf(ctx, x.Deps, r.view, r.tree)
	if err == nil {
		prepared := state.Prepared()
		r.state = &prepared
	}
	return err
}

// stateOf is a conversation with every value in place. The messages of the document
// are left out: those of the state tell more.
func stateOf(ctx context.Context, d Deps, view contract.ConversationView, tree *contract.TreeView) (*agui.State, error) {
	s := &agui.State{Running: view.Running}
	var err error
	if s.Messages, err = resolved(ctx, d, view.Transcript); err != nil {
		return nil, fmt.Errorf("read conversation %s: %w", view.ID, err)
	}
	s.View = view
	view.Transcript = contract.Transcript{}
	if view.Last != nil {
		if s.Response, err = transcript.ReadText(ctx, d.Blobs, view.Last.Response); err != nil {
			return nil, fmt.Errorf("read the reply of conversation %s: %w", view.ID, err)
		}
	}
	if s.Document, err = document.Render(ctx, d.Blobs, view); err != nil || tree == nil {
		return s, err
	}
	t, err := document.RenderTree(ctx, d.Blobs, *tree)
	s.Tree = &t
	return s, err
}

func resolved(ctx context.Context, d Deps, t contract.Transcript) ([]contract.Message, error) {
	messages, err := transcript.Load(ctx, d.Blobs, t)
	if err != nil {
		return nil, err
	}
	for n, m := range messages {
		m.Native = nil // only its provider can read it
		if messages[n], err = transcript.Resolve(ctx, d.Blobs, m); err != nil {
			return nil, err
		}
	}
	return messages, nil
}

// learn takes what was read, unless something newer is known by now.
func (x *watcher) learn(r reading) {
	known := x.have.state != nil
	switch {
	case x.ctx.Err() != nil:
	case isPanic(r.err), r.err != nil && !r.news && (!known || isKind(r.err, contract.KindNotFound)):
		x.giveUp(r.err)
	case r.err != nil:
		x.Logger.Warn("read a conversation that is being followed", "conversation", x.id, "error", r.err)
		x.asked = x.asked || r.news
	case known && older(r.view, x.have.view):
	case r.state == nil:
		x.have.treeless = r.treeless
		x.confirm(r.drafts)
	default:
		x.take(r)
	}
}

// take makes a reading what is known.
func (x *watcher) take(r reading) {
	if r.lacksTree {
		r.tree, r.treeless = x.have.tree, x.have.treeless
		if x.have.state != nil {
			r.state.Tree = x.have.state.Tree
		}
	}
	x.have = r
	x.publish(r)
}

// settle takes a conversation that came with news. What lacks in it is read.
func (x *watcher) settle(n contract.News) {
	if x.have.state != nil && older(*n.Settled, x.have.view) {
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
		x.beginSettle(r)
	}
}

// beginSettle makes what came ready beside the watcher. One is after the other, and of
// those that come meanwhile only the last.
func (x *watcher) beginSettle(r reading) {
	x.settling = true
	x.beside(func(ctx context.Context, out *reading) error {
		*out = r
		return x.render(ctx, out)
	})
}

// arrive takes a reading that was made beside the watcher.
func (x *watcher) arrive(r reading) {
	if !r.news {
		x.busy = false
		x.learn(r)
		return
	}
	x.learn(r)
	if next := x.settled; next != nil {
		x.settled = nil
		x.beginSettle(*next)
		return
	}
	x.settling = false
	for _, i := range x.later {
		x.pass(i)
	}
	x.later = nil
}

// follows reports whether a piece is of a draft that began behind what is being settled:
// that would end it.
func (x *watcher) follows(i item) bool {
	return x.settling && (i.draft != nil || slices.ContainsFunc(x.later, func(o item) bool { return o.name() == i.name() }))
}
