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

// readTimeout limits one read of a conversation.
const readTimeout = 15 * time.Second

// reading is the result of one read of a conversation, or a state that came with an event.
type reading struct {
	view contract.ConversationView
	// tree is nil for an agent that is a single node, and while it is unknown; singleNode tells
	// the two apart.
	tree       *contract.TreeView
	singleNode bool
	state      *record.State
	same       bool // neither the conversation nor the state has changed
	err        error
	// fromEvent: the state came with an event, which may lack the tree.
	fromEvent, lacksTree bool
	// drafts is how many drafts had begun when the read started.
	drafts int
}

// beginRead starts a read in the background, so that the loop goes on handling events. It
// subscribes first, so that no event between the two is lost.
func (x *follower) beginRead() {
	x.subscribe()
	x.busy, x.readAsked, x.readAt = true, false, time.Now()
	if x.begun.IsZero() {
		x.begun = x.readAt
	}
	have, drafts := x.current, x.drafted
	x.inBackground(func(ctx context.Context, r *reading) error {
		r.drafts = drafts
		return x.read(ctx, have, r)
	})
}

func (x *follower) subscribe() {
	if x.events == nil && x.Feed != nil {
		x.events, x.stop = x.Feed.Subscribe(x.id)
	}
}

// inBackground runs do in a goroutine and sends its reading to the loop.
func (x *follower) inBackground(do func(context.Context, *reading) error) {
	x.followers.goroutines.Go(func() {
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
	r.tree, r.singleNode = have.tree, have.singleNode
	if r.view, err = x.Conversations.Conversation(ctx, x.id, ""); err != nil {
		return err
	}
	if !r.singleNode {
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

// readTree reads the tree of a composite agent. Workers of an older version do not offer it;
// the conversation is shown without it then.
func (x *follower) readTree(ctx context.Context, r *reading) error {
	tree, err := x.Conversations.Tree(ctx, x.id)
	switch {
	case service.IsKind(err, service.KindUnavailable):
	case err != nil:
		return err
	case tree.Node.Composite():
		r.tree = &tree
	default:
		r.singleNode = true
	}
	return nil
}

// Older reports whether a is an older state than b. All states between two versions carry the
// same version; within it the transcript only grows.
func Older(a, b contract.ConversationView) bool {
	return a.Version < b.Version || a.Version == b.Version && a.Transcript.Len() < b.Transcript.Len()
}

// render loads the messages of a reading and sets its state.
func (x *follower) render(ctx context.Context, r *reading) (err error) {
	r.state, err = record.Load(ctx, x.Blobs, r.view, r.tree)
	return err
}

// accept publishes a reading, unless a newer state is known.
func (x *follower) accept(r reading) {
	known := x.current.state != nil
	switch {
	case x.ctx.Err() != nil:
	case !known && service.IsKind(r.err, service.KindUnavailable) && x.hasEager() && time.Since(x.begun) < x.Pace.Patience:
		x.readAsked, x.readAt = true, time.Now().Add(x.Pace.Again)
	case service.IsPanic(r.err), r.err != nil && !r.fromEvent && (!known || service.IsKind(r.err, contract.KindNotFound)):
		x.giveUp(r.err)
	case r.err != nil:
		x.Logger.Warn("read a conversation that is being followed", "conversation", x.id, "error", r.err)
		x.readAsked = x.readAsked || r.fromEvent
	case known && Older(r.view, x.current.view):
		if !r.fromEvent { // a newer state came with an event
			x.publishCommitted(r.state)
		}
	case !r.same && !r.fromEvent && !r.view.Running && r.drafts < x.drafted:
		x.readAsked = true // a turn has begun since; readers would take its reply for ended
	case r.same:
		x.current.singleNode = r.singleNode
		x.publishCommitted(r.state)
		x.confirm(r.drafts)
	default:
		x.replace(r)
	}
}

// replace makes a reading the current state and publishes it.
func (x *follower) replace(r reading) {
	if r.lacksTree {
		r.tree, r.singleNode = x.current.tree, x.current.singleNode
		if x.current.state != nil {
			state := *r.state
			state.Tree = x.current.state.Tree
			state = state.WithMemo()
			r.state = &state
		}
	}
	x.current = r
	x.publish(r)
	if !r.fromEvent {
		x.publishCommitted(r.state)
	}
}

// receiveSettled handles a state that came with an event. If it lacks the tree of a composite
// agent, the conversation is read.
func (x *follower) receiveSettled(n contract.Event) {
	if x.current.state != nil && Older(*n.Settled, x.current.view) {
		return
	}
	r := reading{
		view: *n.Settled, tree: x.current.tree, singleNode: x.current.singleNode, fromEvent: true,
		lacksTree: n.Tree == nil,
	}
	if n.Tree != nil {
		r.singleNode = !n.Tree.Node.Composite()
	}
	if n.Tree != nil && !r.singleNode {
		r.tree = n.Tree
	}
	x.readAsked = !r.singleNode && n.Tree == nil
	x.receiveState(r)
}

// receiveState has a state rendered that came with an event.
func (x *follower) receiveState(r reading) {
	x.readAt = time.Now()
	if x.settling {
		x.settled = &r
	} else {
		x.renderSettled(r)
	}
}

// receiveTranscript handles the messages that came with the beginning of a reply, and reports
// whether they make a read unnecessary. While another state is on its way it is unknown which of
// the two is newer.
func (x *follower) receiveTranscript(n contract.Event) bool {
	known := x.current.view
	if n.Transcript == nil || x.current.state == nil || !x.current.singleNode || x.busy || x.settling || known.Status == contract.StatusCompleted {
		return false
	}
	v := known
	v.Status, v.Transcript, v.Running, v.Pending, v.Pipeline = contract.StatusActive, *n.Transcript, true, nil, nil
	switch {
	case Older(v, known):
		return false
	case !known.Running || Older(known, v):
		x.receiveState(reading{view: v, singleNode: true, fromEvent: true})
	}
	x.readAsked = false
	return true
}

// renderSettled renders a state that came with an event in the background. One is rendered at
// a time; of those that arrive in between only the last is kept.
func (x *follower) renderSettled(r reading) {
	x.settling = true
	x.inBackground(func(ctx context.Context, out *reading) error {
		*out = r
		return x.render(ctx, out)
	})
}

// finish handles a reading that was made in the background.
func (x *follower) finish(r reading) {
	if !r.fromEvent {
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

// mustWait reports whether a piece belongs to a draft that began after the state being
// rendered. Publishing that state would drop the draft.
func (x *follower) mustWait(i Item) bool {
	return x.settling && (i.Draft != nil || slices.ContainsFunc(x.later, func(o Item) bool { return o.Name() == i.Name() }))
}
