package slackchat

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"agent-stop-and-go/gateway/live"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/slackchat/card"
	"agent-stop-and-go/gateway/slackchat/projection"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deletion"
	"agent-stop-and-go/workflows/record"
)

const (
	// linger is how long a conversation that waits is read as if something happened in it. After
	// that only the records of what waits are awaited, which costs nothing.
	linger = 30 * time.Second
	// lookAgain is when it is read all the same.
	lookAgain = 10 * time.Minute
)

// thread follows a conversation while something happens in it or waits.
type thread struct {
	chat *Chat
	at   place
	id   string
	poke chan struct{} // capacity 1
	// first is closed when the thread has shown what it found.
	first     chan struct{}
	closeOnce sync.Once

	mu sync.Mutex
	// open counts those who expect that something happens.
	open  int
	moved time.Time     // when something happened last
	state *record.State // the newest one; nil while only approvals are awaited
	user  string        // who has written last, or ""

	// The rest is of the goroutine that follows.
	drafts projection.Drafts
	posts  map[string]*post // nil: not known
	left   []string         // streams that an earlier gateway has left
	stream *stream          // nil: none is open
	kept   string           // the key of a message that stays as an earlier gateway has left it, or ""
	again  string           // the key of a message whose stream was too old, or ""
	told   projection.Told  // calls whose end a stream has shown; nil: not known
	plain  bool             // Slack takes no streams in this thread
	from   int              // the first turn that is shown; 0: not known
	former int              // an earlier turn that is shown too, because a gateway has left it half told; or 0
	last   *record.State    // the state that was shown last
	waits  []string         // the approvals that are awaited
}

// errWaits ends the watch of a conversation in which only approvals wait.
var errWaits = errors.New("the conversation waits")

// follow returns what follows the conversation of a thread, and begins that. fresh: the thread has
// nothing of it yet. user is who has written, "" if nobody has. The caller expects something (expect), or
// not (wake).
func (c *Chat) follow(ctx context.Context, at place, id, user string, fresh bool) *thread {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.threads[at]; t != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.open++
		t.user = cmp.Or(user, t.user)
		return t
	}
	t := &thread{chat: c, at: at, id: id, poke: make(chan struct{}, 1), first: make(chan struct{}), open: 1, moved: c.Now(), user: user}
	if fresh {
		t.posts, t.from = map[string]*post{}, 1
	}
	c.threads[at] = t
	c.work.Go(func() {
		ctx := service.ActingItself(ctx)
		err := service.Guard(func() error { return t.run(ctx) })
		c.leave(t, true)
		t.shown()
		if err != nil && ctx.Err() == nil {
			c.Logger.Error("a thread in Slack is not followed any more", "channel", at.channel, "thread", at.root, "error", err)
		}
	})
	return t
}

// touch has what happened in a conversation shown soon, if it is that of the thread.
func (c *Chat) touch(ctx context.Context, at place, id string) {
	if own, err := c.conversation(service.ActingItself(ctx), at); err != nil || own != id {
		return
	}
	c.follow(ctx, at, id, "", false).wake()
}

// leave ends following, unless something is expected; force does so in any case.
func (c *Chat) leave(t *thread, force bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	if !force && t.open > 0 {
		return false
	}
	if c.threads[t.at] == t {
		delete(c.threads, t.at)
	}
	return true
}

func (t *thread) shown() { t.closeOnce.Do(func() { close(t.first) }) }

// wake has the conversation read soon.
func (t *thread) wake() {
	t.mu.Lock()
	t.open--
	t.moved = t.chat.Now()
	t.mu.Unlock()
	t.signal()
}

func (t *thread) signal() {
	select {
	case t.poke <- struct{}{}:
	default:
	}
}

// expect follows until a request has settled, and tells its sender if it was refused.
func (t *thread) expect(ctx context.Context, q service.Request, user string) {
	ctx = service.ActingItself(ctx)
	t.chat.work.Go(func() {
		defer t.wake()
		settled, err := t.settled(ctx, q)
		if err == nil {
			err = settled.Refusal()
		}
		if err != nil {
			t.chat.tellError(ctx, t.at, user, err)
			return
		}
		state, err := t.chat.Service.Record(ctx, settled.View)
		if err != nil {
			t.chat.Logger.Warn("a reply for Slack cannot be read", "conversation", t.id, "error", err)
			return
		}
		t.offer(state)
	})
	t.signal()
}

// settled waits for the settlement of a request, however long Temporal is away.
func (t *thread) settled(ctx context.Context, q service.Request) (service.Settlement, error) {
	for {
		settled, err := t.chat.Service.Await(ctx, q)
		var known *service.Error
		if err == nil || ctx.Err() != nil || errors.Is(err, service.ErrClosing) || errors.As(err, &known) && known.Kind != service.KindUnavailable && known.Kind != contract.KindTimeout {
			return settled, err
		}
		t.chat.Logger.Warn("a reply for Slack is not there yet", "conversation", t.id, "error", err)
		sleep(ctx, 2*time.Second)
	}
}

// offer gives the thread a state of its conversation.
func (t *thread) offer(s *record.State) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state != nil && (s.View.Version < t.state.View.Version || s.View.Version == t.state.View.Version && len(s.Messages) < len(t.state.Messages)) {
		return
	}
	if t.state == nil || s.View.Version != t.state.View.Version || len(s.Messages) != len(t.state.Messages) {
		t.moved = t.chat.Now()
	}
	t.state = s
}

func (t *thread) current() *record.State {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state
}

// run follows until nothing is expected any more.
func (t *thread) run(ctx context.Context) error {
	for pause := time.Second; ; {
		err := t.watch(ctx)
		switch {
		case ctx.Err() != nil:
			t.part(ctx)
			return ctx.Err()
		case err == nil:
			if t.chat.leave(t, false) {
				return nil
			}
		case errors.Is(err, errWaits):
			t.await(ctx)
		case errors.Is(err, live.ErrSlow):
		case service.IsKind(err, contract.KindNotFound), service.IsKind(err, deletion.KindDeleted):
			return t.close(ctx)
		case hopeless(err):
			return err
		default:
			t.chat.Logger.Warn("a thread in Slack is not up to date; it is tried again", "channel", t.at.channel, "thread", t.at.root, "error", err, "pause", pause)
			t.posts, t.stream = nil, nil // what was not answered may have been carried out
			sleep(ctx, pause)
			pause = min(2*pause, time.Minute)
			continue
		}
		pause = time.Second
	}
}

// watch shows what happens, until nothing is expected (nil) or only approvals wait (errWaits).
func (t *thread) watch(ctx context.Context) error {
	if t.posts == nil {
		there, err := t.chat.scan(ctx, t.at, t.id, "")
		if err != nil {
			return err
		}
		t.posts, t.left = there.posts, there.left
		t.mu.Lock()
		t.user = cmp.Or(t.user, there.user)
		t.mu.Unlock()
	}
	r, err := t.chat.Followers.Join(ctx, t.id, true)
	if err != nil {
		return err
	}
	defer t.chat.Followers.Leave(r)
	changed, next := false, time.Time{}
	for {
		var due, old <-chan time.Time
		if changed = changed || t.current() != t.last; changed {
			due = time.After(time.Until(next))
		} else if err, ends := t.rest(); ends {
			return err
		} else {
			old = t.stream.old()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.poke:
			r.RequestRead()
			r.ExpectChange()
			changed = true
		case <-r.Wake():
			items, _, err := r.Take()
			for _, i := range items {
				t.take(i)
			}
			if err != nil {
				return err
			}
			changed = changed || len(items) > 0
		case <-old:
			changed = true
		case <-due:
			if err := t.show(ctx); err != nil {
				return err
			}
			changed, next = false, time.Now().Add(t.chat.Pace)
		case <-time.After(linger):
		}
	}
}

func (t *thread) take(i live.Item) {
	if i.State != nil {
		t.offer(i.State)
		t.drafts = t.drafts.Recorded(i.State)
		return
	}
	t.drafts = t.drafts.Take(i)
}

// rest reports whether a watch ends, and how. Where it ends because only approvals wait, the thread
// keeps nothing of the record but their UUIDs.
func (t *thread) rest() (err error, ends bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch s := t.state; {
	case s == nil || s != t.last || t.open > 0 || s.Running || s.View.Queued > 0:
		return nil, false
	case len(s.Document.PendingApprovals) == 0:
		return nil, true
	case t.chat.Now().Sub(t.moved) < linger:
		return nil, false
	}
	t.waits = nil
	for _, p := range t.state.Document.PendingApprovals {
		t.waits = append(t.waits, p.UUID)
	}
	t.state, t.last = nil, nil
	return errWaits, true
}

// show has the thread show the newest state.
func (t *thread) show(ctx context.Context) error {
	s := t.current()
	if s == nil {
		return nil
	}
	if t.from == 0 {
		if err := t.choose(s); err != nil {
			return err
		}
	}
	t.drafts = t.drafts.Recorded(s) // it may not have come from the reader
	if err := t.reconcile(ctx, t.wanted(s)); err != nil {
		return err
	}
	t.last = s
	t.shown()
	return nil
}

// await returns when one of the approvals that wait was decided, somebody pokes, or it is time to
// look again.
func (t *thread) await(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lookAgain)
	defer cancel()
	decided := make(chan error, 1)
	for _, uuid := range t.waits {
		t.chat.work.Go(func() {
			_, err := t.chat.Service.DecisionRecord(ctx, service.Receipt{UUID: uuid})
			select {
			case decided <- err:
			default:
			}
		})
	}
	select {
	case <-ctx.Done():
	case <-t.poke:
		t.signal()
	case err := <-decided:
		if err != nil {
			sleep(ctx, 5*time.Second)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.moved = t.chat.Now()
}

// close ends the stream of a conversation that was deleted, and says on its cards how they ended.
func (t *thread) close(ctx context.Context) error {
	if t.posts == nil {
		return nil
	}
	if err := t.adopt(ctx, nil); err != nil {
		return err
	}
	if t.stream != nil {
		if err := t.cease(ctx, ""); err != nil {
			return err
		}
	}
	for _, key := range t.keys() {
		if strings.HasSuffix(key, projection.ControlSuffix) {
			if err := t.remove(ctx, key); err != nil {
				return err
			}
			continue
		}
		uuid, ok := strings.CutPrefix(key, projection.CardKey)
		if !ok || t.posts[key].final || t.posts[key].lost {
			continue
		}
		if err := t.put(ctx, projection.Wanted{Key: projection.CardKey + uuid, Message: card.Gone()}, true); err != nil {
			return err
		}
	}
	return nil
}
