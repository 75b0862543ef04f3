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

// follower follows one conversation for all its readers. run is the only one to
// touch the fields that mu does not guard.
type follower struct {
	Options
	all          *Followers
	id           string
	ctx          context.Context
	cancel       context.CancelFunc
	readRequests chan struct{} // has room for one

	mu      sync.Mutex
	readers map[*Reader]struct{}
	eager   int  // of the readers
	lasting int  // of the readers
	latest  Item // without a state until it is known
	lasted  Item // the latest that was read
	drafts  drafts
	groups  []*group

	news   <-chan contract.Event // nil without a feed
	stop   func()
	have   reading
	reads  chan reading // has room for one
	busy   bool         // a read is under way
	asked  bool         // news ask for a read
	readAt time.Time
	// drafted counts the drafts that have begun.
	drafted int
	// settling: what came with news is made ready. settled came meanwhile, and later are
	// the pieces of what began behind it.
	settling bool
	settled  *reading
	later    []Item
}

func newFollower(w *Followers, id string) *follower {
	ctx, cancel := context.WithCancel(w.base)
	return &follower{
		Options: w.Options, all: w, id: id, ctx: ctx, cancel: cancel, readRequests: make(chan struct{}, 1),
		readers: map[*Reader]struct{}{}, reads: make(chan reading, 1), stop: func() {},
	}
}

// add makes a reader, who begins with what is known.
func (x *follower) add(r *Reader) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.readers[r] = struct{}{}
	if r.eager {
		x.eager++
	}
	begin := x.latest
	if r.lasting {
		x.lasting++
		begin = x.lasted
	}
	if x.latest.State != nil {
		x.requestRead() // what is known may be old, and what lasts not known yet
	}
	if begin.State == nil {
		return
	}
	r.put(begin)
	if r.lasting {
		return
	}
	for _, d := range x.drafts {
		for _, i := range d.items {
			r.put(i)
		}
	}
}

// requestRead asks for a read.
func (x *follower) requestRead() {
	select {
	case x.readRequests <- struct{}{}:
	default:
	}
}

// RequestRead has the conversation read soon.
func (r *Reader) RequestRead() { r.follower.requestRead() }

// ConversationID is that of the conversation.
func (r *Reader) ConversationID() string { return r.follower.id }

// ClearEager makes the reader one of those who wait for nothing in particular.
func (r *Reader) ClearEager() {
	x := r.follower
	x.mu.Lock()
	defer x.mu.Unlock()
	if r.eager {
		r.eager = false
		x.eager--
	}
}

// remove returns how many readers are left.
func (x *follower) remove(r *Reader) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.readers, r)
	x.leaveGroup(r)
	if r.eager {
		x.eager--
	}
	if r.lasting {
		x.lasting--
	}
	return len(x.readers)
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

// giveUp ends all readers. A panic is that of one conversation only.
func (x *follower) giveUp(err error) {
	var p *service.Panic
	if errors.As(err, &p) {
		x.Logger.Error("follow a conversation", "conversation", x.id, "error", err, "stack", string(p.Stack))
	}
	x.all.giveUp(x, err)
}

// loop fails by a panic only.
func (x *follower) loop() error {
	beat := time.NewTicker(x.Pace.KeepAlive)
	defer beat.Stop()
	next := time.NewTimer(0)
	defer next.Stop()
	for {
		select {
		case <-x.ctx.Done():
			return nil
		case n, ok := <-x.news:
			x.receive(n, ok)
		case <-x.readRequests:
			x.asked = true
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

// receive takes news.
func (x *follower) receive(n contract.Event, ok bool) {
	switch {
	case !ok:
		x.stop()
		x.news, x.stop, x.asked = nil, func() {}, true
	case n.Settled != nil:
		x.receiveSettled(n)
		x.asked = x.asked || x.hasLasting()
	case n.Draft != nil:
		x.asked = true // a turn may have begun with it
		x.drafted++
		x.piece(Item{Draft: n.Draft, Drafts: x.drafted})
	case n.Delta != nil:
		x.piece(Item{Delta: n.Delta})
	default:
		x.asked = true
	}
}

// piece passes a piece on, in its place.
func (x *follower) piece(i Item) {
	if x.comesLater(i) {
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

// broadcast gives an item to every reader, by itself or with others, except to those who get
// only what lasts.
// The caller holds mu.
func (x *follower) broadcast(i Item) {
	for _, g := range x.groups {
		g.put(i)
	}
	for r := range x.readers {
		if r.group == nil && !r.lasting {
			r.put(i)
		}
	}
}

// publish makes a state the latest one. What comes with news is not known to be as new
// as the drafts of others.
func (x *follower) publish(r reading) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.latest.State = r.state
	if !r.news {
		x.latest.Drafts = r.drafts
	}
	x.drafts = x.drafts.settle(r.state)
	x.broadcast(x.latest)
}

// publishLasting gives a state that was read to those who get only what lasts.
func (x *follower) publishLasting(state *record.State) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if last := x.lasted.State; last != nil && (last == state || Older(state.View, last.View) || sameState(last, state)) {
		return
	}
	x.lasted = Item{State: state}
	for r := range x.readers {
		if r.lasting {
			r.put(x.lasted)
		}
	}
}

func sameState(a, b *record.State) bool {
	return reflect.DeepEqual(a.View, b.View) && reflect.DeepEqual(a.Tree, b.Tree)
}

// confirm takes note that nothing was new when so many drafts had begun. Those who
// wait for a turn want to know.
func (x *follower) confirm(drafts int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.latest.Drafts = drafts
	for r := range x.readers {
		switch {
		case !r.eager:
		case !r.lasting:
			r.put(x.latest)
		case x.lasted.State != nil:
			r.put(x.lasted)
		}
	}
}

// hasLasting reports whether there are readers who get only what lasts.
func (x *follower) hasLasting() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.lasting > 0
}

// over reports whether there will never be anything new, for anybody.
func (x *follower) over() bool {
	if x.have.view.Status != contract.StatusCompleted {
		return false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.lasting == 0 || x.lasted.State != nil && x.lasted.State.View.Status == contract.StatusCompleted
}

// schedule sets the timer to the next read; none while one is under way, and none
// when there will never be anything new.
func (x *follower) schedule(next *time.Timer) {
	if x.busy || x.over() {
		next.Stop()
		return
	}
	next.Reset(time.Until(x.readAt.Add(x.interval())))
}

func (x *follower) interval() time.Duration {
	v := x.have.view
	switch {
	case x.asked && x.hasEager():
		return x.Pace.Again / 15
	case x.asked:
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
