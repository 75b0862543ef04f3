package live

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"time"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
)

// follower follows one conversation for all its readers. Only the goroutine of run touches
// the fields that mu does not guard.
type follower struct {
	Options
	followers    *Followers
	id           string
	ctx          context.Context
	cancel       context.CancelFunc
	lingers      *time.Timer   // ends it; guarded by the followers' mu
	readRequests chan struct{} // capacity 1
	expectations chan struct{} // capacity 1

	mu              sync.Mutex
	reserved        bool // nobody has joined yet: the conversation may not exist, and is not read
	readers         map[*Reader]struct{}
	eager           int  // number of eager readers
	committed       int  // number of readers of committed states
	latest          Item // its State is nil until there is one
	latestCommitted Item // the latest state that was read
	drafts          drafts
	groups          []*group

	events    <-chan contract.Event // nil without a feed
	stop      func()
	current   reading
	reads     chan reading // capacity 1
	busy      bool         // a read is under way
	readAsked bool         // an event or a reader asks for a read
	readAt    time.Time
	begun     time.Time // when the first read began
	// drafted counts the drafts that have begun.
	drafted int
	// settling: a state that came with an event is being rendered. settled is the next one to
	// render, and later holds the pieces of drafts that began after it.
	settling bool
	settled  *reading
	later    []Item
}

func newFollower(w *Followers, id string) *follower {
	ctx, cancel := context.WithCancel(w.base)
	return &follower{
		Options: w.Options, followers: w, id: id, ctx: ctx, cancel: cancel,
		readRequests: make(chan struct{}, 1), expectations: make(chan struct{}, 1),
		readers: map[*Reader]struct{}{}, reads: make(chan reading, 1), stop: func() {},
	}
}

// add adds a reader, which starts with the latest state.
func (x *follower) add(r *Reader) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.readers[r] = struct{}{}
	if r.eager {
		x.eager++
	}
	begin := x.latest
	if r.committed {
		x.committed++
		begin = x.latestCommitted
	}
	if x.latest.State != nil || x.reserved {
		x.requestRead() // the latest state may be old, or none that was read
	}
	x.reserved = false
	if begin.State != nil {
		r.put(begin)
	}
	if r.committed {
		return
	}
	for _, d := range x.drafts {
		for _, i := range d.items {
			r.put(i)
		}
	}
}

// requestRead asks the loop for a read. It does not block.
func (x *follower) requestRead() { fill(x.readRequests) }

func fill(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// RequestRead asks for a read of the conversation. It does not block.
func (r *Reader) RequestRead() { r.follower.requestRead() }

// ExpectChange says that the conversation is about to change. It is read a moment later, unless
// an event brings the change before. It does not block.
func (r *Reader) ExpectChange() { fill(r.follower.expectations) }

func (r *Reader) ConversationID() string { return r.follower.id }

// ClearEager makes the reader an ordinary one, which expects no change soon.
func (r *Reader) ClearEager() {
	x := r.follower
	x.mu.Lock()
	defer x.mu.Unlock()
	if r.eager {
		r.eager = false
		x.eager--
	}
}

// remove removes a reader and returns the number of readers left.
func (x *follower) remove(r *Reader) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.readers, r)
	x.leaveGroup(r)
	if r.eager {
		x.eager--
	}
	if r.committed {
		x.committed--
	}
	return len(x.readers)
}

func (x *follower) empty() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.readers) == 0
}

func (x *follower) isReserved() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.reserved
}

// drafting reports whether a reply is being written.
func (x *follower) drafting() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.drafts) > 0
}

func (x *follower) each(do func(*Reader)) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for r := range x.readers {
		do(r)
	}
}

func (x *follower) fail(err error) { x.each(func(r *Reader) { r.end(err) }) }

func (x *follower) run() {
	defer func() { x.stop() }()
	defer x.cancel()
	if err := service.Guard(x.loop); err != nil {
		x.giveUp(err)
	}
}

// giveUp ends all readers. A panic ends only the follower of this conversation.
func (x *follower) giveUp(err error) {
	var p *service.Panic
	if errors.As(err, &p) {
		x.Logger.Error("follow a conversation", "conversation", x.id, "error", err, "stack", string(p.Stack))
	}
	x.followers.giveUp(x, err)
}

// loop runs until the follower's context ends. Only a panic makes it fail.
func (x *follower) loop() error {
	beat := time.NewTicker(x.Pace.KeepAlive)
	defer beat.Stop()
	next := time.NewTimer(0)
	defer next.Stop()
	x.schedule(next)
	for {
		select {
		case <-x.ctx.Done():
			return nil
		case n, ok := <-x.events:
			x.receive(n, ok)
		case <-x.readRequests:
			x.readAsked = true
		case <-x.expectations:
			x.expectChange()
		case <-next.C:
			x.beginRead()
		case r := <-x.reads:
			x.finish(r)
		case <-beat.C:
			x.each((*Reader).keepAlive)
		}
		x.schedule(next)
	}
}

// expectChange delays the next read, and leaves it out if the change is known already: in auto
// mode, a read makes an activity of a call that has just begun.
func (x *follower) expectChange() {
	if !x.readAsked && !x.settling && !x.current.view.Running {
		x.readAsked, x.readAt = true, time.Now().Add(x.Pace.Again/10)
	}
}

// receive handles an event, or the end of the subscription.
func (x *follower) receive(n contract.Event, ok bool) {
	switch {
	case !ok:
		x.stop()
		x.events, x.stop, x.readAsked = nil, func() {}, true
	case n.Settled != nil:
		x.receiveSettled(n)
		x.readAsked = x.readAsked || x.hasCommitted()
	case n.Draft != nil:
		if !x.receiveTranscript(n) || x.hasCommitted() {
			x.readAsked = true // the draft may have begun a turn
		}
		x.drafted++
		x.piece(Item{Draft: n.Draft, Drafts: x.drafted})
	case n.Delta != nil:
		x.piece(Item{Delta: n.Delta})
	default:
		x.readAsked = true
	}
}

// piece passes a piece of a draft on, or holds it back until the state before it is rendered.
func (x *follower) piece(i Item) {
	if x.mustWait(i) {
		x.later = appendAll(x.later, []Item{i})
		return
	}
	x.pass(i)
}

func (x *follower) pass(i Item) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.drafts = x.drafts.take(i)
	x.broadcast(i)
}

// broadcast gives an item to every reader, directly or through its shared stream, except to
// readers of committed states. The caller holds mu.
func (x *follower) broadcast(i Item) {
	for _, g := range x.groups {
		g.put(i)
	}
	for r := range x.readers {
		if r.group == nil && !r.committed {
			r.put(i)
		}
	}
}

// publish makes a state the latest one. A state that came with an event does not say how many
// drafts had begun before it, because drafts of other processes may overtake it.
func (x *follower) publish(r reading) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.latest.State = r.state
	if !r.fromEvent {
		x.latest.Drafts = r.drafts
	}
	x.drafts = x.drafts.settle(r.state)
	x.broadcast(x.latest)
}

// publishCommitted gives a state that was read to the readers of committed states, unless they
// have it or a newer one.
func (x *follower) publishCommitted(state *record.State) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if last := x.latestCommitted.State; last != nil && (last == state || Older(state.View, last.View) || sameState(last, state)) {
		return
	}
	x.latestCommitted = Item{State: state}
	for r := range x.readers {
		if r.committed {
			r.put(x.latestCommitted)
		}
	}
}

func sameState(a, b *record.State) bool {
	return reflect.DeepEqual(a.View, b.View) && reflect.DeepEqual(a.Tree, b.Tree)
}

// confirm records that a read found nothing new after this many drafts had begun. It gives
// eager readers the state again: they wait for a turn, and the number tells them whether the
// read came after its start.
func (x *follower) confirm(drafts int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.latest.Drafts = drafts
	for r := range x.readers {
		switch {
		case !r.eager:
		case !r.committed:
			r.put(x.latest)
		case x.latestCommitted.State != nil:
			r.put(x.latestCommitted)
		}
	}
}

// hasCommitted reports whether there are readers of committed states.
func (x *follower) hasCommitted() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.committed > 0
}

// ended reports whether the conversation has ended and every reader has its last state.
func (x *follower) ended() bool {
	if x.current.view.Status != contract.StatusCompleted {
		return false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.committed == 0 || x.latestCommitted.State != nil && x.latestCommitted.State.View.Status == contract.StatusCompleted
}

// schedule sets the timer to the next read. It stops the timer before the first reader, while a
// read is under way, and after the last state.
func (x *follower) schedule(next *time.Timer) {
	if x.busy || x.isReserved() || x.ended() {
		next.Stop()
		return
	}
	next.Reset(time.Until(x.readAt.Add(x.interval())))
}

func (x *follower) interval() time.Duration {
	v := x.current.view
	switch {
	case x.empty():
		return x.Pace.Idle
	case x.readAsked && x.hasEager():
		return x.Pace.Again / 15
	case x.readAsked:
		return x.Pace.Again
	case v.Running, v.Queued > 0, x.hasEager():
		return x.Pace.Running
	}
	return x.Pace.Idle
}

func (x *follower) hasEager() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.eager > 0
}
