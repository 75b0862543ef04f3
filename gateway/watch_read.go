package gateway

import (
	"context"
	"fmt"
	"reflect"
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
}

// beginRead reads beside the watcher, which must not be kept from passing on news.
// It listens to them first, so that nothing falls between the two.
func (x *watcher) beginRead() {
	if x.news == nil && x.Feed != nil {
		x.news, x.stop = x.Feed.Watch(x.id)
	}
	x.busy, x.asked, x.readAt = true, false, time.Now()
	have := x.have
	x.all.flying.Go(func() { x.reads <- x.read(have) })
}

func (x *watcher) read(have reading) reading {
	ctx, cancel := context.WithTimeout(x.ctx, loadTimeout)
	defer cancel()
	r := reading{tree: have.tree, treeless: have.treeless}
	if r.view, r.err = x.Backend.Conversation(ctx, x.id, ""); r.err != nil {
		return r
	}
	if !r.treeless {
		if r.err = x.readTree(ctx, &r); r.err != nil {
			return r
		}
	}
	if have.state != nil && reflect.DeepEqual(have.view, r.view) && reflect.DeepEqual(have.tree, r.tree) {
		return r
	}
	r.err = x.render(ctx, &r)
	return r
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

// older tells whether a was true before b. A version covers what happens until the
// next one, and messages only become more.
func older(a, b contract.ConversationView) bool {
	return a.Version < b.Version || a.Version == b.Version && a.Transcript.Len() < b.Transcript.Len()
}

// render makes the state of what was read.
func (x *watcher) render(ctx context.Context, r *reading) error {
	state, err := stateOf(ctx, x.Deps, r.view, r.tree)
	r.state = state
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
	case r.err != nil && (!known || isKind(r.err, contract.KindNotFound)):
		x.all.giveUp(x, r.err)
	case r.err != nil:
		x.Logger.Warn("read a conversation that is being followed", "conversation", x.id, "error", r.err)
	case known && older(r.view, x.have.view):
	case r.state == nil:
		x.have.treeless = r.treeless
	default:
		x.have = r
		x.publish(r.state)
	}
}

// settle takes a conversation that came with news. What lacks in it is read.
func (x *watcher) settle(n contract.News) {
	if x.have.state != nil && older(*n.Settled, x.have.view) {
		return
	}
	ctx, cancel := context.WithTimeout(x.ctx, loadTimeout)
	defer cancel()
	r := reading{view: *n.Settled, tree: x.have.tree, treeless: x.have.treeless}
	if n.Tree != nil {
		r.treeless = !n.Tree.Node.Composite()
	}
	if n.Tree != nil && !r.treeless {
		r.tree = n.Tree
	}
	if r.err = x.render(ctx, &r); r.err != nil || !r.treeless && n.Tree == nil {
		x.asked = true
	} else {
		x.asked, x.readAt = false, time.Now()
	}
	if r.err == nil {
		x.have = r
		x.publish(r.state)
	}
}
