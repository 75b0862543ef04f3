package gateway

import (
	"context"
	"errors"
	"sync"
	"time"

	"agent-stop-and-go/workflows/contract"
)

// watcher follows one conversation for all its readers. run is the only one to
// touch the fields that mu does not guard.
type watcher struct {
	Deps
	all    *watches
	id     string
	ctx    context.Context
	cancel context.CancelFunc
	poked  chan struct{} // has room for one

	mu      sync.Mutex
	readers map[*reader]struct{}
	eager   int  // of the readers
	latest  item // without a state until it is known
	drafts  drafts
	courses []*course

	news   <-chan contract.News // nil while nobody tells any
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
	later    []item
}

func newWatcher(w *watches, id string) *watcher {
	ctx, cancel := context.WithCancel(w.base)
	return &watcher{
		Deps: w.Deps, all: w, id: id, ctx: ctx, cancel: cancel, poked: make(chan struct{}, 1),
		readers: map[*reader]struct{}{}, reads: make(chan reading, 1), stop: func() {},
	}
}

// add makes a reader, who begins with what is known.
func (x *watcher) add(eager bool) *reader {
	r := &reader{watcher: x, eager: eager, wake: make(chan struct{}, 1)}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.readers[r] = struct{}{}
	if eager {
		x.eager++
	}
	if x.latest.state == nil {
		return r
	}
	r.tell(x.latest)
	for _, d := range x.drafts {
		for _, i := range d.items {
			r.tell(i)
		}
	}
	x.poke() // what is known may be old
	return r
}

// poke asks for a read.
func (x *watcher) poke() {
	select {
	case x.poked <- struct{}{}:
	default:
	}
}

// calm makes a reader one of those who wait for nothing in particular.
func (x *watcher) calm(r *reader) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if r.eager {
		r.eager = false
		x.eager--
	}
}

// remove returns how many readers are left.
func (x *watcher) remove(r *reader) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.readers, r)
	x.leaveCourse(r)
	if r.eager {
		x.eager--
	}
	return len(x.readers)
}

func (x *watcher) each(do func(*reader)) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for r := range x.readers {
		do(r)
	}
}

func (x *watcher) fail(err error) { x.each(func(r *reader) { r.end(err) }) }

func (x *watcher) run() {
	defer func() { x.stop() }()
	defer x.cancel()
	if err := guarded(x.loop); err != nil {
		x.giveUp(err)
	}
}

// giveUp ends all readers. A panic is that of one conversation only.
func (x *watcher) giveUp(err error) {
	var p *panicked
	if errors.As(err, &p) {
		x.Logger.Error("follow a conversation", "conversation", x.id, "error", err, "stack", string(p.stack))
	}
	x.all.giveUp(x, err)
}

// loop fails by a panic only.
func (x *watcher) loop() error {
	beat := time.NewTicker(x.Pace.KeepAlive)
	defer beat.Stop()
	next := time.NewTimer(0)
	defer next.Stop()
	for {
		select {
		case <-x.ctx.Done():
			return nil
		case n, ok := <-x.news:
			x.hear(n, ok)
		case <-x.poked:
			x.asked = true
		case <-next.C:
			x.beginRead()
		case r := <-x.reads:
			x.arrive(r)
		case <-beat.C:
			x.each((*reader).keepAlive)
		}
		x.schedule(next)
	}
}

// hear takes news.
func (x *watcher) hear(n contract.News, ok bool) {
	switch {
	case !ok:
		x.stop()
		x.news, x.stop, x.asked = nil, func() {}, true
	case x.all.lasting:
		x.asked = x.asked || n.Delta == nil
	case n.Settled != nil:
		x.settle(n)
	case n.Draft != nil:
		x.asked = true // a turn may have begun with it
		x.drafted++
		x.piece(item{draft: n.Draft, drafts: x.drafted})
	case n.Delta != nil:
		x.piece(item{delta: n.Delta})
	default:
		x.asked = true
	}
}

// piece passes a piece on, in its place.
func (x *watcher) piece(i item) {
	if x.follows(i) {
		x.later = together(x.later, []item{i})
		return
	}
	x.pass(i)
}

func (x *watcher) pass(i item) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.drafts = x.drafts.take(i)
	x.tell(i)
}

// tell tells every reader, by itself or with others. The caller holds mu.
func (x *watcher) tell(i item) {
	for _, c := range x.courses {
		c.tell(i)
	}
	for r := range x.readers {
		if r.course == nil {
			r.tell(i)
		}
	}
}

// publish makes a state the latest one. What comes with news is not known to be as new
// as the drafts of others.
func (x *watcher) publish(r reading) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.latest.state = r.state
	if !r.news {
		x.latest.drafts = r.drafts
	}
	x.drafts = x.drafts.settle(r.state)
	x.tell(x.latest)
}

// confirm takes note that nothing was new when so many drafts had begun. Those who
// wait for a turn want to know.
func (x *watcher) confirm(drafts int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.latest.drafts = drafts
	for r := range x.readers {
		if r.eager {
			r.tell(x.latest)
		}
	}
}

// schedule sets the timer to the next read; none while one is under way, and none
// when there will never be anything new.
func (x *watcher) schedule(next *time.Timer) {
	if x.busy || x.have.view.Status == contract.StatusCompleted {
		next.Stop()
		return
	}
	next.Reset(time.Until(x.readAt.Add(x.interval())))
}

func (x *watcher) interval() time.Duration {
	v := x.have.view
	switch {
	case x.asked && x.expecting():
		return x.Pace.Again / 15
	case x.asked:
		return x.Pace.Again
	case v.Running, v.Queued > 0, x.expecting():
		return x.Pace.Running
	}
	return x.Pace.Idle
}

func (x *watcher) expecting() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.eager > 0
}
